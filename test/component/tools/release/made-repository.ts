import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { LocalGitHub } from "release-please/build/src/local-github.js";
import type { PullRequest } from "release-please/build/src/pull-request.js";
import type { Release } from "release-please/build/src/release.js";
import type { ScmRelease } from "release-please/build/src/scm.js";
import type { Update } from "release-please/build/src/update.js";
import { readSource } from "../../../support/repository/source-files.ts";

const IDENTITY = ["-c", "user.name=A tester", "-c", "user.email=tester@example.com"];
const CONFIG = "release-please-config.json";
const MANIFEST = ".release-please-manifest.json";
const QUIET = { error() {}, warn() {}, info() {}, debug() {}, trace() {} };

/** An opened Release PR: its text, and its files. */
export interface OpenedPullRequest {
  readonly pullRequest: PullRequest;
  readonly files: ReadonlyMap<string, string>;
}

/**
 * A git repository in a temporary folder, with the project's configuration of release-please and the files that it
 * changes. Git is real. GitHub's releases and pull requests are kept in memory.
 */
export class MadeRepository extends LocalGitHub {
  readonly folder: string;
  readonly opened: OpenedPullRequest[] = [];
  readonly released: Release[] = [];
  merged: PullRequest | undefined;

  constructor() {
    const folder = mkdtempSync(path.join(tmpdir(), "releases-"));
    const repository = { owner: "someone", repo: "something", defaultBranch: "main" };
    super(repository, undefined as never, folder, { logger: QUIET });
    this.folder = folder;
    this.git("init", "--quiet", "--initial-branch", "main");
    this.commit("chore: begin", { [CONFIG]: readSource(CONFIG).text, "CHANGELOG.md": changelog() });
    this.git("tag", "empty");
  }

  git(...args: string[]): string {
    return execFileSync("git", [...IDENTITY, ...args], { cwd: this.folder, stdio: "pipe" })
      .toString()
      .trim();
  }

  /** Resets the repository to a release; without a version, to before the first one. */
  startAt(version: string | undefined): void {
    this.git("checkout", "--quiet", "-B", "main", "empty");
    this.opened.length = 0;
    this.released.length = 0;
    this.merged = undefined;
    const files = versionFiles(version ?? "0.1.0");
    this.commit("chore: lay out", { ...files, [MANIFEST]: JSON.stringify({ ".": version ?? "0.0.0" }) });
    if (version === undefined) return;
    this.git("tag", "--force", `v${version}`);
  }

  commit(message: string, files: Readonly<Record<string, string>> = {}): void {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(this.folder, name)), { recursive: true });
      writeFileSync(path.join(this.folder, name), content);
    }
    if (Object.keys(files).length > 0) this.git("add", ".");
    this.git("commit", "--quiet", "--allow-empty", "--message", message);
  }

  /** Merges the Release PR like GitHub's squash. */
  mergeOpened(): string {
    const [opened] = this.opened.splice(0);
    if (opened === undefined) throw new Error("no Release PR is open");
    this.commit(`${opened.pullRequest.title} (#1)`, Object.fromEntries(opened.files));
    const sha = this.git("rev-parse", "HEAD");
    this.merged = { ...opened.pullRequest, number: 1, sha, mergeCommitOid: sha } as PullRequest;
    return sha;
  }

  /** Reads from the working tree, without a process. Only this branch is checked out. */
  override async getFileContentsOnBranch(name: string): ReturnType<LocalGitHub["getFileContentsOnBranch"]> {
    const parsedContent = readFileSync(path.join(this.folder, name), "utf8");
    const content = Buffer.from(parsedContent).toString("base64");
    return { parsedContent, content, sha: "", mode: "100644" };
  }

  override async *releaseIterator(): AsyncGenerator<ScmRelease, void, void> {
    const format = "--format=%(refname:short) %(objectname)";
    for (const line of this.git("tag", "--list", "v*", "--merged", "main", format)
      .split("\n")
      .filter(Boolean)) {
      const [tagName = "", sha = ""] = line.split(" ");
      yield { id: 1, tagName, name: tagName, sha, notes: "", url: "" };
    }
  }

  override async *pullRequestIterator(
    _branch: string,
    status?: "OPEN" | "CLOSED" | "MERGED",
  ): AsyncGenerator<PullRequest, void, void> {
    if (status === "MERGED" && this.merged !== undefined) yield this.merged;
  }

  override async createPullRequest(
    pullRequest: PullRequest,
    _targetBranch: string,
    _message: string,
    updates: Update[],
  ): Promise<PullRequest> {
    const tracked = new Set(this.git("ls-files").split("\n"));
    const files = new Map<string, string>();
    for (const { path: name, updater } of updates) {
      // Some updates concern files of other kinds of projects.
      if (!tracked.has(name)) continue;
      const before = files.get(name) ?? readFileSync(path.join(this.folder, name), "utf8");
      files.set(name, updater.updateContent(before));
    }
    this.opened.push({ pullRequest, files });
    return pullRequest;
  }

  override async createRelease(release: Release): Promise<ScmRelease> {
    this.released.push(release);
    const tagName = release.tag.toString();
    this.git("tag", tagName, release.sha);
    return { id: 1, tagName, sha: release.sha, url: "" };
  }

  override async commentOnIssue(): Promise<string> {
    return "";
  }

  override async removeIssueLabels(): Promise<void> {
    this.merged = undefined;
  }

  override async addIssueLabels(): Promise<void> {}

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

function changelog(): string {
  return readSource("CHANGELOG.md").text;
}

/** The files that contain the version, shortened, with the project's own fields around it. */
function versionFiles(version: string): Record<string, string> {
  const name = "threshold-signing-service";
  const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;
  const openapi = ["gen/openapi.json", "gen/signer-openapi.json"].map((file) => {
    const document = JSON.parse(readFileSync(file, "utf8")) as { info: object };
    return [file, json({ ...document, info: { ...document.info, version } })];
  });
  return {
    "package.json": json({ name, version, license: "Apache-2.0" }),
    "package-lock.json": json({ name, version, lockfileVersion: 3, packages: { "": { name, version } } }),
    ...(Object.fromEntries(openapi) as Record<string, string>),
  };
}
