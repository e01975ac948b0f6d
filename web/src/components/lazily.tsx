/** A component whose code is fetched when it is first shown. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "./button";
import { Skeleton } from "./states";

export function lazily<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let here: ComponentType<P> | null = null;
  return function Lazily(props: P) {
    const [state, setState] = useState<"waiting" | "here" | "failed">(here ? "here" : "waiting");
    useEffect(() => {
      if (state !== "waiting") return;
      load().then(
        (found) => ((here = found), setState("here")),
        () => setState("failed"),
      );
    }, [state]);
    const Found = here;
    if (Found) return <Found {...props} />;
    if (state === "failed") {
      // A newer version was built meanwhile, or the server is gone.
      return (
        <div class="hstack gap-2 centered small anywhere raised quiet panel-cover" role="alert">
          <p>This part of the page could not be loaded.</p>
          <Button onClick={() => setState("waiting")}>Try again</Button>
          <Button kind="quiet" onClick={() => location.reload()}>
            Reload the page
          </Button>
        </div>
      );
    }
    return (
      <div class="hstack gap-2 centered small anywhere raised quiet panel-cover panel-wait">
        <Skeleton width="60%" />
      </div>
    );
  };
}
