/** What to type when there is nothing to show yet: snippets that can be copied. */

import type { ComponentChildren } from "preact";
import { IconButton } from "./button";
import { CopyIcon } from "./icons";
import { copyText } from "./toast";

export function Lessons({ children }: { children: ComponentChildren }) {
  return <div class="vstack gap-3 to-left lessons">{children}</div>;
}

export function Lesson({ title, text }: { title: string; text: string }) {
  return (
    <section class="lesson">
      <header>
        <h3>{title}</h3>
        <IconButton label={`Copy: ${title}`} onClick={() => void copyText(text)}>
          <CopyIcon size={14} />
        </IconButton>
      </header>
      <pre tabIndex={0}>{text}</pre>
    </section>
  );
}
