import { hashOf, lookOf, PALETTE } from "../lib/colour";
import { visibleText } from "../lib/format";
import { isDark } from "../theme";
import { CloseIcon } from "./icons";

export interface TagProps {
  text: string;
  onRemove?: (() => void) | undefined;
  onPick?: (() => void) | undefined;
}

/** A tag as a chip; its dot has a hue of its own, stable by the tag's text. */
export function Tag({ text, onRemove, onPick }: TagProps) {
  const shown = visibleText(text);
  return (
    <span class="tag" title={shown}>
      <span class="tag-dot" style={{ background: lookOf(hashOf(text) % PALETTE.length, isDark.value).colour }} />
      {onPick ? (
        <button type="button" class="tag-text" onClick={onPick}>
          {shown}
        </button>
      ) : (
        <span class="tag-text">{shown}</span>
      )}
      {onRemove ? (
        <button type="button" class="tag-remove" aria-label={`Remove tag ${shown}`} onClick={onRemove}>
          <CloseIcon size={10} />
        </button>
      ) : null}
    </span>
  );
}
