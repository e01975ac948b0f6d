/** Something long that shows its beginning, and all of it on a click. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../components";

export function Folded({ height, children }: { height: number; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const [long, setLong] = useState(false);
  const [open, setOpen] = useState(false);
  useLayoutEffect(() => {
    if (box.current) setLong(box.current.scrollHeight > height + 40); // a little more is not worth a button
  });
  const shut = long && !open;
  return (
    <>
      <div ref={box} class="folded" data-shut={shut || undefined} style={{ maxHeight: shut ? height : undefined }}>
        {children}
      </div>
      {long ? (
        <div class="px-2 py-1 over">
          <Button kind="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Show less" : "Show all of it"}
          </Button>
        </div>
      ) : null}
    </>
  );
}
