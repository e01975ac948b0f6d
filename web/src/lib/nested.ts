/** A flat config (`optimizer/lr`) as folders of names and values. */

export interface Entry {
  /** The whole key. */
  key: string;
  /** Its last part. */
  name: string;
  value: unknown;
}

export interface Folder {
  /** "" for what stands at the top. */
  name: string;
  entries: Entry[];
}

/** Values at the top first, then each folder in the order it was met; a folder is all up to the last `/`. */
export function foldersOf(values: Readonly<Record<string, unknown>>): Folder[] {
  const folders = new Map<string, Entry[]>([["", []]]);
  for (const [key, value] of Object.entries(values)) {
    const cut = key.lastIndexOf("/");
    const folder = cut > 0 && cut < key.length - 1 ? key.slice(0, cut) : "";
    const entry = { key, name: folder ? key.slice(cut + 1) : key, value };
    const held = folders.get(folder);
    if (held) held.push(entry);
    else folders.set(folder, [entry]);
  }
  return [...folders].filter(([, entries]) => entries.length > 0).map(([name, entries]) => ({ name, entries }));
}

/** Only what has the words in its key or value. */
export function searchFolders(folders: readonly Folder[], words: string, text: (value: unknown) => string): Folder[] {
  const wanted = words.trim().toLowerCase();
  if (wanted === "") return [...folders];
  const fits = (entry: Entry) => `${entry.key} ${text(entry.value)}`.toLowerCase().includes(wanted);
  return folders
    .map(({ name, entries }) => ({ name, entries: entries.filter(fits) }))
    .filter(({ entries }) => entries.length > 0);
}
