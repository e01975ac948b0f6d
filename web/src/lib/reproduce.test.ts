import { expect, test } from "vitest";
import { commandLine, reproduceCommands, requirements, variablesOf, webAddress } from "./reproduce";
import type { RunDetail } from "./schema";

function run(git: RunDetail["git"], env: Record<string, string> = {}): RunDetail {
  return {
    id: "01AB",
    name: "brave\notter",
    command: ["python", "train.py", "--note", "it's two words"],
    environment: { host: "gpu-07", python: "3.12.4", cwd: "/home/ada/my vae", env },
    git,
  } as unknown as RunDetail;
}

const GIT = { commit: "4f2a91c7", branch: "main", remote: null, dirty: true, diff: "-a\n+b\n", diff_truncated: false };

test("the commands check out, apply, set and start", () => {
  expect(
    reproduceCommands(
      run(GIT, { OMP_NUM_THREADS: "4", RANK: "0", SLURM_JOB_ID: "7", CONDA_DEFAULT_ENV: "vae" }),
      "x.diff",
    ),
  ).toBe(
    `# brave otter (01AB), Python 3.12.4 on gpu-07
cd '/home/ada/my vae'
git checkout 4f2a91c7
git -C "$(git rev-parse --show-toplevel)" apply <<'END_OF_DIFF'
-a
+b
END_OF_DIFF
# it ran in the conda environment vae
export OMP_NUM_THREADS=4
python train.py --note 'it'\\''s two words'
`,
  );
});

test("a diff cannot end its own text early, and a long one is a file", () => {
  const sly = reproduceCommands(run({ ...GIT, diff: "+x\nEND_OF_DIFF\nrm -rf ~\n" }), "x.diff");
  expect(sly).toContain("<<'END_OF_DIFF_'\n+x\nEND_OF_DIFF\nrm -rf ~\nEND_OF_DIFF_\n");
  const long = reproduceCommands(run({ ...GIT, diff: "+x\n".repeat(20_000) }), "brave.diff");
  expect(long).toContain('apply "$OLDPWD"/brave.diff');
  expect(long.length).toBeLessThan(600);
  expect(reproduceCommands(run({ ...GIT, diff_truncated: true }), "x.diff")).toContain(
    "the end of the diff is missing",
  );
  expect(reproduceCommands(run({ ...GIT, diff: null }), "x.diff")).toContain("not kept here");
  expect(reproduceCommands(run(null), "x.diff")).not.toContain("git");
});

test("masked values and what a launcher sets stay out", () => {
  expect(
    variablesOf({ HF_HOME: "/x", TORCH_TOKEN: "***", WORLD_SIZE: "8", LOCAL_RANK: "1", VIRTUAL_ENV: "/v" }),
  ).toEqual([["HF_HOME", "/x"]]);
  expect(commandLine(["a", "$(x)", ""])).toBe("a '$(x)' ''");
  expect(commandLine(["a\u001b[2J\\'", "b"])).toBe("$'a\\u001b[2J\\\\\\'' b");
  expect(requirements({ torch: "2.9.0", numpy: "2.1" })).toBe("torch==2.9.0\nnumpy==2.1\n");
});

test("only what a browser may open becomes a link", () => {
  expect(webAddress("https://github.com/ada/vae.git", "4f2a91c7")).toEqual({
    repository: "https://github.com/ada/vae",
    commit: "https://github.com/ada/vae/commit/4f2a91c7",
  });
  expect(webAddress("https://gitlab.example.org/a/b", "4f2a91c7")?.commit).toBe(
    "https://gitlab.example.org/a/b/-/commit/4f2a91c7",
  );
  expect(webAddress("https://example.org/a/b", "4f2a91c7")?.commit).toBeNull();
  expect(webAddress("https://github.com/ada/vae", "../..")?.commit).toBeNull();
  for (const bad of ["git@github.com:ada/vae.git", "javascript:alert(1)", 'https://x" onclick="y', "", null])
    expect(webAddress(bad, "a")).toBeNull();
});
