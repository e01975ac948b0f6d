/** The names that more than one run has. */
export function sharedNames(runs: readonly { name: string }[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { name } of runs) {
    if (seen.has(name)) twice.add(name);
    seen.add(name);
  }
  return twice;
}
