/** A unified diff as files, stretches and numbered lines. */

export type DiffKind = "same" | "added" | "removed" | "note";

export interface DiffLine {
  kind: DiffKind;
  text: string;
  /** Numbers in the file before and after; null where the line is not there. */
  before: number | null;
  after: number | null;
}

export interface DiffStretch {
  /** What git found it in: `def fit(model)`. */
  title: string;
  lines: DiffLine[];
}

export interface DiffFile {
  path: string;
  /** Its path before, if it was moved. */
  from: string | null;
  change: "changed" | "added" | "removed" | "moved" | "binary";
  added: number;
  removed: number;
  stretches: DiffStretch[];
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;

interface Reader {
  files: DiffFile[];
  file: DiffFile | null;
  before: number;
  after: number;
}

/** Reads what it can: a diff that was cut in the middle gives the files up to there. */
export function parseDiff(text: string): DiffFile[] {
  const reader: Reader = { files: [], file: null, before: 1, after: 1 };
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  for (const line of lines) readLine(reader, line);
  return reader.files;
}

function readLine(reader: Reader, line: string): void {
  if (line.startsWith("diff --git ")) return begin(reader, pathsOf(line));
  const hunk = HUNK.exec(line);
  if (hunk) {
    reader.before = Number(hunk[1]);
    reader.after = Number(hunk[2]);
    fileOf(reader).stretches.push({ title: hunk[3] ?? "", lines: [] });
    return;
  }
  const file = reader.file;
  if (file && file.stretches.length === 0 && readHeader(file, line)) return;
  readBody(reader, line);
}

function begin(reader: Reader, [from, to]: readonly [string, string]): void {
  reader.file = {
    path: to,
    from: from === to ? null : from,
    change: from === to ? "changed" : "moved",
    added: 0,
    removed: 0,
    stretches: [],
  };
  reader.files.push(reader.file);
}

/** `diff --git a/old b/new`; paths with blanks are told apart by being equal, the usual case. */
function pathsOf(line: string): readonly [string, string] {
  const rest = line.slice("diff --git ".length).replace(/"/g, "");
  const half = Math.floor(rest.length / 2);
  if (rest.slice(2, half) === rest.slice(half + 3)) return [rest.slice(2, half), rest.slice(half + 3)];
  const cut = rest.indexOf(" b/");
  return cut < 0 ? [rest, rest] : [rest.slice(2, cut), rest.slice(cut + 3)];
}

function readHeader(file: DiffFile, line: string): boolean {
  if (line.startsWith("new file")) file.change = "added";
  else if (line.startsWith("deleted file")) file.change = "removed";
  else if (line.startsWith("Binary files") || line.startsWith("GIT binary patch")) file.change = "binary";
  else return /^(index|old mode|new mode|similarity|dissimilarity|rename|copy|---|\+\+\+) ?/.test(line);
  return true;
}

/** The file that lines belong to; a diff without heads (somebody's own) is one file without a name. */
function fileOf(reader: Reader): DiffFile {
  if (!reader.file) begin(reader, ["", ""]);
  return reader.file as DiffFile;
}

function readBody(reader: Reader, line: string): void {
  const file = fileOf(reader);
  if (file.change === "binary") return;
  if (file.stretches.length === 0) file.stretches.push({ title: "", lines: [] });
  const into = (file.stretches[file.stretches.length - 1] as DiffStretch).lines;
  const text = line.slice(1);
  if (line.startsWith("+")) {
    file.added++;
    into.push({ kind: "added", text, before: null, after: reader.after++ });
  } else if (line.startsWith("-")) {
    file.removed++;
    into.push({ kind: "removed", text, before: reader.before++, after: null });
  } else if (line.startsWith("\\")) {
    into.push({ kind: "note", text: text.trim(), before: null, after: null });
  } else {
    into.push({ kind: "same", text, before: reader.before++, after: reader.after++ });
  }
}

export interface DiffSize {
  files: number;
  added: number;
  removed: number;
}

export function sizeOfDiff(files: readonly DiffFile[]): DiffSize {
  const sum = (pick: (file: DiffFile) => number) => files.reduce((total, file) => total + pick(file), 0);
  return { files: files.length, added: sum((file) => file.added), removed: sum((file) => file.removed) };
}
