/** A token or link that is shown once. */

import { Button, copyText } from "../../components";

export function Secret({ about, text, onClose }: { about: string; text: string; onClose: () => void }) {
  return (
    <div class="people-secret" role="status">
      <p>{about} It is shown only now.</p>
      <code class="isolate">{text}</code>
      <Button onClick={() => void copyText(text)}>Copy</Button>
      <Button kind="quiet" onClick={onClose}>
        Done
      </Button>
    </div>
  );
}
