/** What each user sent, and how much they may; for admins of the server. */

import { useState } from "preact/hooks";
import { Button, TextInput } from "../../components";
import { call } from "../../lib/api";
import { formatBytes, visibleText } from "../../lib/format";
import type { Storage, UserStorage } from "../../lib/schema";
import { parseBytes, usedOf } from "../../lib/storage";
import { attempt } from "../people/ask";

export function StorageUsers({ users, onChange }: { users: UserStorage[]; onChange: (found: Storage) => void }) {
  return (
    <section aria-labelledby="storage-users-title">
      <h2 id="storage-users-title">Users</h2>
      <table class="people-table">
        <thead>
          <tr>
            <th>Name</th>
            <th class="number">Runs</th>
            <th class="number">Size</th>
            <th>Quota</th>
          </tr>
        </thead>
        <tbody>
          {users.map((one) => (
            <tr key={one.name}>
              <td class="isolate">{one.name === "" ? <span class="quiet">Unknown</span> : visibleText(one.name)}</td>
              <td class="number" data-label="Runs">
                {one.runs.toLocaleString("en-US")}
              </td>
              <td class="number">{usedOf(one.bytes, one.quota_bytes)}</td>
              <td>{one.name === "" ? null : <Quota user={one} onChange={onChange} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Quota({ user, onChange }: { user: UserStorage; onChange: (found: Storage) => void }) {
  const held = user.quota_bytes === null ? "" : formatBytes(user.quota_bytes);
  const [text, setText] = useState(held);
  const bytes = parseBytes(text);
  const set = () =>
    attempt(
      async () =>
        onChange(await call("POST /api/storage/quota", { kind: "user", name: user.name, quota_bytes: bytes ?? null })),
      "Not changed",
    );
  return (
    <form class="storage-quota" onSubmit={(event) => (event.preventDefault(), void set())}>
      <TextInput
        label={`Quota of ${user.name}`}
        placeholder="No limit"
        value={text}
        bad={bytes === undefined}
        onInput={setText}
      />
      {text === held ? null : (
        <Button type="submit" disabled={bytes === undefined}>
          Set
        </Button>
      )}
    </form>
  );
}
