import { expect, test } from "vitest";
import { Asker } from "./asker";

/** A server whose answers come when the test says so. */
function slow() {
  const asked: { name: string; answer(): void; aborted: () => boolean }[] = [];
  const work = (name: string) => (stop: AbortSignal) =>
    new Promise<void>((answer) => asked.push({ name, answer, aborted: () => stop.aborted }));
  return { asked, work, names: () => asked.map((one) => one.name) };
}

const soon = () => new Promise<void>((done) => setTimeout(done, 0));

test("news that come faster than answers stop none, and the last of them is heeded", async () => {
  const { asked, work, names } = slow();
  const asker = new Asker();
  const done = asker.ask("q", work("first"));
  for (const name of ["second", "third"]) void asker.ask("q", work(name));
  expect(names()).toEqual(["first"]);
  expect(asked[0]?.aborted()).toBe(false);
  asked[0]?.answer();
  await soon();
  expect(names()).toEqual(["first", "third"]);
  asked[1]?.answer();
  await done;
  void asker.ask("q", work("later"));
  expect(names()).toEqual(["first", "third", "later"]);
});

test("another question takes the place of the one before, and what that wanted again is forgotten", async () => {
  const { asked, work, names } = slow();
  const asker = new Asker();
  void asker.ask("a", work("a"));
  void asker.ask("a", work("a again"));
  void asker.ask("b", work("b"));
  expect([asked[0]?.aborted(), names()]).toEqual([true, ["a", "b"]]);
  asked[0]?.answer();
  asked[1]?.answer();
  await soon();
  expect(names()).toEqual(["a", "b"]);
});

test("after a stop and after a fault one can ask anew", async () => {
  const { asked, work, names } = slow();
  const asker = new Asker();
  void asker.ask("a", work("a"));
  asker.stop();
  expect(asked[0]?.aborted()).toBe(true);
  await expect(asker.ask("a", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  void asker.ask("a", work("once more"));
  expect(names()).toEqual(["a", "once more"]);
});
