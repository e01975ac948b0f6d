/** A name that is cut in its middle when it is too long: runs of a sweep differ at their ends. */

const LONG = 14;
const TAIL = 11;

export function Middle({ text: name }: { text: string }) {
  const text = name.replace(/\s/g, " "); // a line break in a name would spill over the rows below
  if (text.length < LONG) return <span class="block ellipsis">{text}</span>;
  const tail = Math.min(TAIL, Math.floor(text.length / 2));
  return (
    <span class="middle">
      <span class="middle-head">{text.slice(0, -tail)}</span>
      <span class="middle-tail">{text.slice(-tail)}</span>
    </span>
  );
}
