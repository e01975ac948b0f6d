import { expect, test } from "vitest";
import { parseDiff, sizeOfDiff } from "./diff-text";

const DIFF = `diff --git a/train.py b/train.py
index 83db48f..bf269f4 100644
--- a/train.py
+++ b/train.py
@@ -10,4 +10,5 @@ def fit(model):
     opt = Adam(model.parameters())
-    lr = 1e-3
+    lr = 3e-3
+    warmup = 100
     return opt
\\ No newline at end of file
diff --git a/my notes.txt b/my notes.txt
new file mode 100644
--- /dev/null
+++ b/my notes.txt
@@ -0,0 +1 @@
+--- not a head
diff --git a/old.py b/new.py
similarity index 100%
rename from old.py
rename to new.py
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
`;

test("files, stretches and both line numbers are read", () => {
  const files = parseDiff(DIFF);
  expect(files.map((file) => [file.path, file.from, file.change, file.added, file.removed])).toEqual([
    ["train.py", null, "changed", 2, 1],
    ["my notes.txt", null, "added", 1, 0],
    ["new.py", "old.py", "moved", 0, 0],
    ["logo.png", null, "binary", 0, 0],
  ]);
  const [stretch] = files[0]?.stretches ?? [];
  expect(stretch?.title).toBe("def fit(model):");
  expect(stretch?.lines.map((line) => [line.kind, line.before, line.after])).toEqual([
    ["same", 10, 10],
    ["removed", 11, null],
    ["added", null, 11],
    ["added", null, 12],
    ["same", 12, 13],
    ["note", null, null],
  ]);
  expect(files[1]?.stretches[0]?.lines).toEqual([{ kind: "added", text: "--- not a head", before: null, after: 1 }]);
  expect(sizeOfDiff(files)).toEqual({ files: 4, added: 3, removed: 1 });
});

test("what is cut, bare or no diff at all is still shown", () => {
  expect(parseDiff("")).toEqual([]);
  const bare = parseDiff("-lr = 1e-3\n+lr = 3e-3\n");
  expect(bare).toHaveLength(1);
  expect([bare[0]?.path, bare[0]?.added, bare[0]?.removed]).toEqual(["", 1, 1]);
  expect(parseDiff(DIFF.slice(0, 150))[0]?.stretches[0]?.lines[0]?.kind).toBe("same");
  expect(parseDiff("hello\nworld")[0]?.stretches[0]?.lines).toHaveLength(2);
});
