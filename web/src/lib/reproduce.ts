/** The commands that make a run again: its code, its changes, its variables, its command line. */

import type { RunDetail } from "./schema";

/** Set by launchers and schedulers for each process; a new start gets its own. */
const GIVEN = /^((LOCAL_|GROUP_|ROLE_)?(RANK|WORLD_SIZE)|MASTER_(ADDR|PORT)|TORCHELASTIC_.*|SLURM_.*|OMPI_.*)$/;
const ENVIRONMENTS = ["VIRTUAL_ENV", "CONDA_DEFAULT_ENV"];
/** A diff up to this length is pasted with the commands; a longer one is a file. */
const MOST_PASTED = 24_000;

/** One word of a command line as a shell reads it, so that the copied line runs. */
export function shellWord(word: string): string {
  // A control character that is pasted would act on the terminal before any shell reads it.
  if (/[\u0000-\u001f\u007f-\u009f]/.test(word)) return `$'${word.replace(/[\u0000-\u001f\u007f-\u009f\\']/g, ansiC)}'`;
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

function ansiC(letter: string): string {
  const code = letter.charCodeAt(0);
  if (letter === "\\" || letter === "'") return `\\${letter}`;
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

export function commandLine(command: readonly string[]): string {
  return command.map(shellWord).join(" ");
}

/** Variables worth setting again, without those that a launcher sets and those whose value was masked. */
export function variablesOf(env: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(env).filter(
    ([name, value]) => !GIVEN.test(name) && !ENVIRONMENTS.includes(name) && !/\*{3}/.test(value),
  );
}

export function reproduceCommands(run: RunDetail, diffFile: string): string {
  const { environment, git } = run;
  const lines = [
    `# ${comment(run.name)} (${run.id}), Python ${comment(environment.python)} on ${comment(environment.host)}`,
  ];
  if (environment.cwd) lines.push(`cd ${shellWord(environment.cwd)}`);
  if (git?.commit) lines.push(...codeLines(git, diffFile));
  for (const name of ENVIRONMENTS) {
    const value = environment.env[name];
    if (value)
      lines.push(
        `# it ran in ${name === "VIRTUAL_ENV" ? "the virtual environment" : "the conda environment"} ${comment(value)}`,
      );
  }
  for (const [name, value] of variablesOf(environment.env)) lines.push(`export ${name}=${shellWord(value)}`);
  if (run.command.length > 0) lines.push(commandLine(run.command));
  return `${lines.join("\n")}\n`;
}

function codeLines(git: NonNullable<RunDetail["git"]>, diffFile: string): string[] {
  const lines = [`git checkout ${shellWord(git.commit)}`];
  const diff = git.diff ?? "";
  if (diff === "")
    return git.dirty ? [...lines, "# it also had changes that were not committed and are not kept here"] : lines;
  const apply = 'git -C "$(git rev-parse --show-toplevel)" apply';
  if (git.diff_truncated) lines.push("# the changes were longer than what is kept: the end of the diff is missing");
  if (diff.length > MOST_PASTED || git.diff_truncated)
    return [...lines, `${apply} "$OLDPWD"/${shellWord(diffFile)}  # the file of "Download the diff"`];
  const end = markOf(diff);
  return [...lines, `${apply} <<'${end}'`, diff.replace(/\n$/, ""), end];
}

/** An end mark that is no line of the diff. */
function markOf(diff: string): string {
  const lines = new Set(diff.split("\n"));
  let mark = "END_OF_DIFF";
  while (lines.has(mark)) mark += "_";
  return mark;
}

/** One line without anything that could end a comment. */
function comment(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").slice(0, 200);
}

/** `requirements.txt` of what was installed. */
export function requirements(packages: Readonly<Record<string, string>>): string {
  return Object.entries(packages)
    .map(([name, version]) => `${name}==${version}\n`)
    .join("");
}

/** The page of a commit, for hosts whose addresses are known; else the remote itself if a browser can open it. */
export function webAddress(
  remote: string | null | undefined,
  commit: string,
): { repository: string; commit: string | null } | null {
  if (!remote || !/^https?:\/\/[^\s<>"'`\\]+$/i.test(remote)) return null;
  const repository = remote.replace(/\.git\/?$/, "").replace(/\/$/, "");
  const host = /^https?:\/\/([^/:]+)/i.exec(repository)?.[1]?.toLowerCase() ?? "";
  const known = /(^|\.)(github|gitlab|gitea|codeberg|forgejo)\b/.test(host);
  const dash = /gitlab/.test(host) ? "/-" : "";
  return {
    repository,
    commit: known && /^[0-9a-f]{7,64}$/.test(commit) ? `${repository}${dash}/commit/${commit}` : null,
  };
}
