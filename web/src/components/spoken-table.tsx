/**
 * What a picture shows, as a table for those who listen to the page. Not drawn; found after the picture it belongs to.
 */

export interface Spoken {
  caption: string;
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

export function SpokenTable({ caption, head, rows }: Spoken) {
  if (rows.length === 0) return null;
  return (
    <div class="visually-hidden">
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {head.map((words) => (
              <th key={words} scope="col">
                {words}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((words, column) =>
                column === 0 ? (
                  <th key={column} scope="row">
                    {words}
                  </th>
                ) : (
                  <td key={column}>{words}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
