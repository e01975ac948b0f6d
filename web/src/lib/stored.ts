/** Small choices kept in this browser. Storage may be full or switched off: then they last as long as the page. */

const PREFIX = "stepscope.";

export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

export function writeStored(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // Nothing to tell: the choice simply is not kept.
  }
}

export function forgetStored(name: string): void {
  try {
    localStorage.removeItem(PREFIX + name);
  } catch {
    // There is nothing to forget where nothing can be kept.
  }
}
