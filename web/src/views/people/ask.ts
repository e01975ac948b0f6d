/** Calls of the People page: a list that is read on opening, and changes whose faults are shown. */

import { useEffect, useState } from "preact/hooks";
import { toast } from "../../components";

export interface Listed<T> {
  found: T | null;
  fault: unknown;
  set: (found: T) => void;
  read: () => Promise<void>;
}

/** What `ask` answers, read at first and whenever `key` changes. */
export function useListed<T>(ask: () => Promise<T>, key = ""): Listed<T> {
  const [found, set] = useState<T | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const read = () =>
    ask().then(
      (answer) => (set(answer), setFault(null)),
      (error: unknown) => setFault(error),
    );
  useEffect(() => void read(), [key]);
  return { found, fault, set, read };
}

/** Does it, or shows why not. True if it was done. */
export async function attempt(what: () => Promise<unknown>, title: string): Promise<boolean> {
  try {
    await what();
    return true;
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), "error", title);
    return false;
  }
}
