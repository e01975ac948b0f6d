/** Regular expressions that always end: a set of states walks the text once, so no pattern can hang the page. */

type Test = (char: string) => boolean;
type Node =
  | { kind: "char"; test: Test }
  | { kind: "start" | "end" | "word" | "empty" }
  | { kind: "all"; parts: Node[] }
  | { kind: "any"; parts: Node[] }
  | { kind: "repeat"; part: Node; min: number; max: number };

interface State {
  test?: Test;
  anchor?: "start" | "end" | "word";
  next: State[];
  done?: true;
}

export class PatternError extends Error {}

const MAX_STATES = 5000;
const isWord: Test = (c) => /^\w$/u.test(c);
const CLASSES: Record<string, Test> = {
  d: (c) => c >= "0" && c <= "9",
  w: isWord,
  s: (c) => /^\s$/u.test(c),
};

class Parser {
  private at = 0;
  private readonly text: string[];
  constructor(
    pattern: string,
    private readonly fold: boolean,
  ) {
    this.text = [...pattern];
  }

  parse(): Node {
    const node = this.choice();
    if (this.at < this.text.length) throw new PatternError(`unmatched “)” at character ${this.at + 1}`);
    return node;
  }

  private peek(): string | undefined {
    return this.text[this.at];
  }

  private choice(): Node {
    const parts = [this.sequence()];
    while (this.peek() === "|") {
      this.at++;
      parts.push(this.sequence());
    }
    return parts.length === 1 ? (parts[0] as Node) : { kind: "any", parts };
  }

  private sequence(): Node {
    const parts: Node[] = [];
    for (let c = this.peek(); c !== undefined && c !== "|" && c !== ")"; c = this.peek()) parts.push(this.repeated());
    return { kind: "all", parts };
  }

  private repeated(): Node {
    let part = this.atom();
    for (let c = this.peek(); c !== undefined; c = this.peek()) {
      const bounds = c === "*" ? [0, -1] : c === "+" ? [1, -1] : c === "?" ? [0, 1] : c === "{" ? this.braces() : null;
      if (!bounds) break;
      if (c !== "{") this.at++;
      if (this.peek() === "?") this.at++; // Lazy or greedy is the same when only a match is asked for.
      part = { kind: "repeat", part, min: bounds[0] as number, max: bounds[1] as number };
    }
    return part;
  }

  private braces(): [number, number] | null {
    const rest = this.text.slice(this.at, this.at + 16).join("");
    const found = /^\{(\d+)(,(\d*))?\}/.exec(rest);
    if (!found) return null;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] ? Number(found[3]) : -1;
    if (min > 1000 || max > 1000 || (max >= 0 && max < min))
      throw new PatternError(`repeat ${found[0]} is out of range`);
    this.at += found[0].length;
    return [min, max];
  }

  private atom(): Node {
    const c = this.text[this.at++] as string;
    if (c === "(") return this.group();
    if (c === "[") return { kind: "char", test: this.set() };
    if (c === ".") return { kind: "char", test: () => true };
    if (c === "^") return { kind: "start" };
    if (c === "$") return { kind: "end" };
    if (c === "\\") return this.escape();
    if (c === "*" || c === "+" || c === "?")
      throw new PatternError(`nothing to repeat before “${c}” at character ${this.at}`);
    return { kind: "char", test: this.same(c) };
  }

  private same(c: string): Test {
    if (!this.fold) return (other) => other === c;
    const low = c.toLowerCase();
    return (other) => other.toLowerCase() === low;
  }

  private group(): Node {
    const open = this.at;
    if (this.peek() === "?") {
      if (this.text[this.at + 1] !== ":")
        throw new PatternError("look-around is not supported; to exclude, start the search with “!”");
      this.at += 2;
    }
    const node = this.choice();
    if (this.peek() !== ")") throw new PatternError(`unclosed “(” at character ${open}`);
    this.at++;
    return node;
  }

  private escape(): Node {
    const c = this.text[this.at++];
    if (c === undefined) throw new PatternError("a lone “\\” at the end");
    if (c === "b") return { kind: "word" };
    return { kind: "char", test: this.escaped(c) };
  }

  private escaped(c: string): Test {
    const known = CLASSES[c.toLowerCase()];
    if (known && c === c.toLowerCase()) return known;
    if (known) return (other) => !known(other);
    return this.same(c === "n" ? "\n" : c === "t" ? "\t" : c);
  }

  private set(): Test {
    const open = this.at;
    const not = this.peek() === "^";
    if (not) this.at++;
    const tests: Test[] = [];
    while (this.peek() !== "]" || tests.length === 0) {
      const c = this.text[this.at++];
      if (c === undefined) throw new PatternError(`unclosed “[” at character ${open}`);
      const end = this.text[this.at + 1];
      if (c === "\\") tests.push(this.escaped(this.text[this.at++] ?? "\\"));
      else if (this.peek() === "-" && end !== undefined && end !== "]") {
        this.at += 2;
        if (end < c) throw new PatternError(`range “${c}-${end}” is out of order`);
        tests.push(this.span(c, end));
      } else tests.push(this.same(c));
    }
    this.at++;
    return (c) => tests.some((test) => test(c)) !== not;
  }

  private span(from: string, to: string): Test {
    const inside: Test = (c) => c >= from && c <= to;
    return this.fold ? (c) => inside(c) || inside(c.toLowerCase()) || inside(c.toUpperCase()) : inside;
  }
}

class Builder {
  private states = 0;

  state(state: State): State {
    if (++this.states > MAX_STATES) throw new PatternError("the pattern is too large");
    return state;
  }

  build(node: Node, next: State): State {
    switch (node.kind) {
      case "char":
        return this.state({ test: node.test, next: [next] });
      case "start":
      case "end":
      case "word":
        return this.state({ anchor: node.kind, next: [next] });
      case "empty":
        return next;
      case "all":
        return node.parts.reduceRight((after, part) => this.build(part, after), next);
      case "any":
        return this.state({ next: node.parts.map((part) => this.build(part, next)) });
      case "repeat":
        return this.repeat(node, next);
    }
  }

  private repeat({ part, min, max }: { part: Node; min: number; max: number }, next: State): State {
    let entry = next;
    if (max < 0) {
      const loop = this.state({ next: [next] });
      loop.next.unshift(this.build(part, loop));
      entry = loop;
    } else {
      for (let i = min; i < max; i++) entry = this.state({ next: [this.build(part, entry), next] });
    }
    for (let i = 0; i < min; i++) entry = this.build(part, entry);
    return entry;
  }
}

function holds(anchor: State["anchor"], text: readonly string[], at: number): boolean {
  if (anchor === "start") return at === 0;
  if (anchor === "end") return at === text.length;
  return isWord(text[at - 1] ?? " ") !== isWord(text[at] ?? " ");
}

/** Adds a state and all it reaches without reading a letter. */
function reach(into: Set<State>, from: State, text: readonly string[], at: number): void {
  const stack = [from];
  for (let state = stack.pop(); state; state = stack.pop()) {
    if (into.has(state) || (state.anchor && !holds(state.anchor, text, at))) continue;
    into.add(state);
    if (!state.test) stack.push(...state.next);
  }
}

function machineOf(pattern: string): { first: State; done: State } {
  const done: State = { next: [], done: true };
  const fold = pattern === pattern.toLowerCase();
  return { first: new Builder().build(new Parser(pattern, fold).parse(), done), done };
}

/** All states after reading one letter. */
function stepped(now: ReadonlySet<State>, text: readonly string[], at: number): Set<State> {
  const after = new Set<State>();
  for (const state of now)
    if (at < text.length && state.test?.(text[at] as string)) reach(after, state.next[0] as State, text, at + 1);
  return after;
}

/** Compiles a pattern; throws a `PatternError` in words when it is not one. Case is ignored unless it has capitals. */
export function compilePattern(pattern: string): (text: string) => boolean {
  const { first, done } = machineOf(pattern);
  return (name) => {
    const text = [...name.slice(0, 2000)];
    let now = new Set<State>();
    for (let at = 0; at <= text.length; at++) {
      reach(now, first, text, at);
      if (now.has(done)) return true;
      now = stepped(now, text, at);
    }
    return now.has(done);
  };
}

/** Letters that are looked at, and steps that are taken, to mark the places of a pattern in one text. */
const MARKED_LETTERS = 1000;
const MARKED_STEPS = 20_000;

/** Where a pattern fits, from start to end, each place as long as it can be; not beyond what marking is worth. */
export function findPattern(pattern: string): (text: string) => [number, number][] {
  const { first, done } = machineOf(pattern);
  return (name) => {
    const text = [...name.slice(0, MARKED_LETTERS)];
    const offset = [0];
    for (const letter of text) offset.push((offset[offset.length - 1] as number) + letter.length);
    const found: [number, number][] = [];
    let steps = 0;
    for (let from = 0; from < text.length && steps < MARKED_STEPS; ) {
      let now = new Set<State>();
      reach(now, first, text, from);
      let end = now.has(done) ? from : -1;
      for (let at = from; at < text.length && now.size > 0 && steps < MARKED_STEPS; at++, steps++) {
        now = stepped(now, text, at);
        if (now.has(done)) end = at + 1;
      }
      if (end > from) found.push([offset[from] as number, offset[end] as number]);
      from = Math.max(from + 1, end);
    }
    return found;
  };
}
