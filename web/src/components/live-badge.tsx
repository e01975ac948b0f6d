import { useEffect, useState } from "preact/hooks";
import { formatDuration } from "../lib/format";
import { liveState, retryNow } from "../lib/live";

/** Live, or for how long it is not, and when it tries again. */
export function LiveBadge() {
  const state = liveState.value;
  const [, tick] = useState(0);
  useEffect(() => {
    if (state.kind !== "retrying") return;
    const timer = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, [state.kind]);
  if (state.kind === "denied") {
    return (
      <span
        class="inline small quiet live"
        data-state="retrying"
        role="alert"
        title="The server was restarted. Open the address that `stepscope ui` printed."
      >
        <span class="live-dot" aria-hidden="true" />
        Access ended: open the address that stepscope ui printed
      </span>
    );
  }
  if (state.kind !== "retrying") {
    return (
      <span
        class="inline small quiet live"
        data-state={state.kind}
        role="status"
        title={state.kind === "live" ? "Changes appear as they happen" : "Connecting"}
      >
        <span class="live-dot" aria-hidden="true" />
        {state.kind === "live" ? "Live" : "Connecting"}
      </span>
    );
  }
  const now = Date.now();
  const wait = Math.max(0, Math.ceil((state.retryAt - now) / 1000));
  return (
    <button
      type="button"
      class="inline small quiet live"
      data-state="retrying"
      title={`What you see is from ${formatDuration((now - state.since) / 1000)} ago. Click to try now.`}
      onClick={() => retryNow()}
    >
      <span class="live-dot" aria-hidden="true" />
      Disconnected, {wait > 0 ? `retrying in ${wait}s` : "retrying"}
    </button>
  );
}
