import { useEffect, useState } from "preact/hooks";
import { Asker } from "../lib/asker";

/** The questions of one component, one at a time; with the component the last one goes too. */
export function useAsker(): Asker {
  const [asker] = useState(() => new Asker());
  useEffect(() => () => asker.stop(), []);
  return asker;
}
