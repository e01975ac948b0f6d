import { expect, test } from "vitest";
import { type Entry, foundSections, localSections, wordsAt } from "./palette-entries";

function entry(kind: Entry["kind"], title: string, words = ""): Entry {
  return { id: `${kind}:${title}`, kind, title, detail: "", words, pick: () => undefined };
}

const ENTRIES = [
  entry("page", "Runs"),
  entry("page", "Reports"),
  entry("action", "Theme: dark", "night"),
  entry("help", "Queries"),
];

test("before the first letter: what was used last, then everything", () => {
  const sections = localSections("", ENTRIES, ["help:Queries", "gone"]);
  expect(sections.map((one) => [one.title, one.entries.length])).toEqual([
    ["Used last", 1],
    ["Pages", 2],
    ["Actions", 1],
  ]);
});

test("the kind with the best entry comes first; other words count, but are not marked", () => {
  expect(localSections("re", ENTRIES, [])[0]?.entries[0]?.entry.title).toBe("Reports");
  const [found] = localSections("night", ENTRIES, []);
  expect(found?.title).toBe("Actions");
  expect(found?.entries[0]?.at).toEqual([]);
});

test("what the server found keeps its groups and says how many more there are", () => {
  const hit = { kind: "run" as const, title: "otter", detail: "vae", run: "r1", key: "" };
  const [group] = foundSections({ groups: [{ kind: "run", hits: [hit], count: 3 }], unread: 0 }, () => undefined);
  expect([group?.title, group?.more, group?.entries[0]?.entry.title]).toEqual(["Runs", 2, "otter"]);
});

test("finds where the words are", () => {
  expect(wordsAt("ot br", "brave-otter")).toEqual([6, 7, 0, 1]);
});
