/** Anything else that was logged: text, tables, audio, video, curves, confusion matrices, embeddings. */

import image from "./image";
import type { PanelKind } from "./panel";

export default {
  ...image,
  kind: "media",
  title: "Other media",
  hint: "text, tables, audio, curves, confusion matrices and more, as they were logged",
} satisfies PanelKind;
