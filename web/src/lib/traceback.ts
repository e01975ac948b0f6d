/** A traceback as its reader wants it: frames of installed packages folded, so that the own lines stand together. */

const FRAME = /^\s*File "(.+)", line \d+/;
const PACKAGE = /[\\/](?:site|dist)-packages[\\/]([^\\/."]+)/;
const STANDARD = /[\\/]lib[\\/]python\d[\d.]*[\\/]/;

/** The package that a frame belongs to; null where it is the user's own. */
function packageOf(file: string): string | null {
  return PACKAGE.exec(file)?.[1] ?? (STANDARD.test(file) ? "Python" : null);
}

/** Every stretch of two or more foreign frames becomes one line; the last frame stays, for there it failed. */
export function foldTraceback(text: string): string {
  const lines = text.split("\n");
  const starts = lines.flatMap((line, at) => (FRAME.test(line) ? [at] : []));
  const last = starts[starts.length - 1] ?? -1;
  const out: string[] = [];
  let foreign: { names: Set<string>; frames: number; lines: string[] } | null = null;
  const flush = () => {
    if (foreign && foreign.frames > 1) out.push(`  … ${foreign.frames} frames in ${[...foreign.names].join(", ")}`);
    else if (foreign) out.push(...foreign.lines);
    foreign = null;
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const file = FRAME.exec(line)?.[1];
    if (file !== undefined) {
      const name = at === last ? null : packageOf(file);
      if (name === null) flush();
      else {
        foreign ??= { names: new Set(), frames: 0, lines: [] };
        foreign.names.add(name);
        foreign.frames++;
      }
    } else if (foreign && !line.startsWith("    ")) flush(); // "During handling of …", or the error itself
    if (foreign) foreign.lines.push(line);
    else out.push(line);
  }
  flush();
  return out.join("\n");
}
