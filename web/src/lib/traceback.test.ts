import { expect, test } from "vitest";
import { foldTraceback } from "./traceback";

const frame = (file: string, code: string) => `  File "${file}", line 3, in f\n    ${code}\n    ^^^^`;
const TORCH = "/v/lib/python3.11/site-packages/torch/nn/modules/module.py";
const HEAD = "Traceback (most recent call last):";

test("frames of a package between the own ones become one line, and the last one stays", () => {
  const own = [frame("train.py", "main()"), frame("train.py", "self.net(x)")] as const;
  const text = [HEAD, own[0], frame(TORCH, "call()"), frame(TORCH, "forward()"), own[1], frame(TORCH, "linear()")];
  expect(foldTraceback([...text, "RuntimeError: shapes"].join("\n"))).toBe(
    [HEAD, own[0], "  … 2 frames in torch", own[1], frame(TORCH, "linear()"), "RuntimeError: shapes"].join("\n"),
  );
});

test("a single foreign frame, a chained error and text that is no traceback stay as they are", () => {
  const single = [HEAD, frame(TORCH, "call()"), frame("train.py", "x"), "KeyError: 1"].join("\n");
  expect(foldTraceback(single)).toBe(single);
  const chained = [HEAD, frame("/usr/lib/python3.11/json/a.py", "a"), "ValueError: 1", "", "During handling", single];
  expect(foldTraceback(chained.join("\n"))).toBe(chained.join("\n"));
  expect(foldTraceback("killed")).toBe("killed");
});
