/** The bytes behind an item's address: from the server, or from the address itself in a file that was shared. */

import { type CallOptions, callBytes } from "./api";

const BLOB = /^\/api\/blob\/([^/]+)\/([0-9a-f]{64})$/;

export async function bytesOf(url: string, options: CallOptions = {}): Promise<ArrayBuffer> {
  const blob = BLOB.exec(url);
  if (blob)
    return callBytes("GET /api/blob/{run}/{sha256}", { run: blob[1] as string, sha256: blob[2] as string }, options);
  const inline = /^data:[^,]*;base64,(.*)$/s.exec(url);
  if (!inline) throw new Error("There are no bytes at this address.");
  return Uint8Array.from(atob(inline[1] as string), (letter) => letter.charCodeAt(0)).buffer;
}
