/**
 * Tags the release whose Release PR was merged, and opens or updates the next Release PR, on GitHub. The workflow
 * `release.yml` runs it: `npm run release -- --repository OWNER/NAME < TOKEN`. Its standard output has the lines
 * `tag=TAG` and `branch=BRANCH`, each only if there is one, for the steps that follow.
 */
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { GitHub, setLogger } from "release-please";
import { runRelease } from "./release/run-release.ts";

const { values } = parseArgs({ options: { repository: { type: "string", default: "" } } });
const [owner, repo] = values.repository.split("/");
if (!owner || !repo) throw new Error("--repository takes OWNER/NAME");
const token = (await text(process.stdin)).trim();
if (token === "") throw new Error("standard input is a GitHub token");
// Standard output is only for the outcome.
const say = (...message: unknown[]): void => console.error(...message);
setLogger({ error: say, warn: say, info: say, debug: () => {}, trace: () => {} });
const github = await GitHub.create({ owner, repo, token });
const outcome = await runRelease(github, github.repository.defaultBranch);
for (const [name, value] of Object.entries(outcome)) if (value !== undefined) console.log(`${name}=${value}`);
