/**
 * Mutates the sources of whole rooms and prints, for each, the share of mutants that the nearest tests kill, and those
 * that survive: `npm run mutate:rooms -- [--room ledger] [--slice 3/20] [--seed 1] [--sample 100]`. A slice is a part
 * of a room's mutants, and all slices are the room. After `--minutes` it starts no further batch. Results are kept in
 * `.data/mutants`: a run that was stopped goes on where it was. `--again` runs the survivors again, and those that a
 * time limit killed; `--fresh` runs everything. `--tests test/unit` leaves out the tests of other folders, which gives a
 * lower share in less time. `--minimum 85` exits with 1 below it.
 */
import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { copyCheckout } from "../test/support/repository/copy-checkout.ts";
import { ROOT } from "../test/support/repository/source-files.ts";
import type { Coverage } from "./mutate/rooms/in-test.ts";
import { makeMutants, type RoomMutant } from "./mutate/rooms/make-mutants.ts";
import { filesOf, needsIsolation, ROOMS, testsOf } from "./mutate/rooms/rooms.ts";
import { runBatch, type Trial, type Verdict } from "./mutate/rooms/run-batch.ts";
import { type Fate, reportOf, scoreLine, scoreOf, survivorLines, wasLate } from "./mutate/rooms/score.ts";

const { values } = parseArgs({
  options: {
    room: { type: "string", multiple: true },
    file: { type: "string", default: "" },
    tests: { type: "string", default: "test/" },
    slice: { type: "string", default: "1/1" },
    seed: { type: "string", default: "1" },
    sample: { type: "string" },
    minutes: { type: "string", default: "Infinity" },
    minimum: { type: "string", default: "0" },
    again: { type: "boolean", default: false },
    fresh: { type: "boolean", default: false },
  },
});
const FOLDER = path.join(ROOT, ".data/mutants");
/** So many test files try to kill a mutant: the file of the same name, then the quickest. */
const NEAREST_COUNT = 8;
/**
 * Of the test files that take longer, only the quickest tries a mutant, and only what the others let pass. The file of
 * the same name counts as quick.
 */
const SLOW_MS = 30_000;
/** Without a mutant, a test file that takes longer never ends. Switches make arithmetic several times slower. */
const COVER_STUCK_MS = 600_000;
/** The time limit of a test then, which a busy machine needs. */
const COVER_TEST_TIMEOUT_MS = 120_000;
/** Stands for the test files that fail without a mutant, whose loading still counts. */
const LEFT_OUT = "";
/** A test file that takes longer never ends, and neither does one that takes so many times its own time. */
const STUCK_MS = 180_000;
const STUCK_TIMES = 5;
/** Changes when the coverage is taken in another way. */
const COVERAGE_FORM = "2";
/** So many test files run without a mutant before what they passed is stored. */
const COVER_COUNT = 10;
/** So many mutants share a process. */
const BATCH_COUNT = 60;

const endsAtMs = performance.now() + Number(values.minutes) * 60_000;
mkdirSync(FOLDER, { recursive: true });
const [slice = 1, sliceCount = 1] = values.slice.split("/").map(Number);
// Another room comes first with each slice, so that a limit of time does not always end the same ones.
const turn = slice % ROOMS.length;
const rooms = values.room?.flatMap(named) ?? [...ROOMS.slice(turn), ...ROOMS.slice(0, turn)];
for (const room of rooms) await goThrough(room);

/** The room with this path, or with this end of its path: `ledger` is `service/ledger`. */
function named(name: string): string[] {
  const found = ROOMS.filter((room) => room === name || room.endsWith(`/${name}`));
  if (found.length === 0) throw new Error(`--room ${name}: the rooms are ${ROOMS.join(", ")}`);
  return found;
}

async function goThrough(room: string): Promise<void> {
  const copy = mkdtempSync(path.join(tmpdir(), "mutants-"));
  try {
    copyCheckout(copy);
    const { mutants, files } = await makeMutants(ROOT, room, filesOf(room));
    for (const { name, content } of files) writeFileSync(path.join(copy, name), content);
    mkdirSync(path.join(copy, "mutants"));
    const edits = mutants.flatMap(({ id, sql }) => (sql === undefined ? [] : [{ id, ...sql }]));
    writeFileSync(path.join(copy, "mutants/sql.json"), JSON.stringify(edits));

    const fates = readFates(room);
    const chosen = choose(mutants.filter(({ file }) => file.includes(values.file)));
    const open = chosen.filter((mutant) => mutant.explanation === undefined && !fates.has(mutant.key));
    console.log(`${room}: ${mutants.length} mutants, ${chosen.length} chosen, ${open.length} to run`);
    if (open.length > 0) {
      const coverage = await cover(copy, room, files);
      for (let start = 0; start < open.length && performance.now() < endsAtMs; start += BATCH_COUNT) {
        for (const fate of await judge(copy, open.slice(start, start + BATCH_COUNT), coverage)) {
          fates.set(fate.key, fate);
          appendFileSync(fatesFile(room), `${JSON.stringify(fate)}\n`);
        }
        console.error(`${room}: ${Math.min(start + BATCH_COUNT, open.length)} of ${open.length}`);
      }
    }
    report(room, mutants, chosen, fates);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function report(
  room: string,
  mutants: readonly RoomMutant[],
  chosen: readonly RoomMutant[],
  fates: ReadonlyMap<string, Fate>,
): void {
  writeFileSync(
    path.join(FOLDER, `${nameOf(room)}.report.json`),
    JSON.stringify(reportOf(ROOT, mutants, fates)),
  );
  const counted = chosen.filter(({ explanation }) => explanation === undefined);
  const judged = counted.filter(({ key }) => fates.has(key));
  const own = judged.map(({ key }) => fates.get(key)!);
  for (const mutant of [...judged].sort((a, b) =>
    a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line,
  )) {
    const fate = fates.get(mutant.key)!;
    if (fate.status !== "killed") console.log(survivorLines(mutant, fate));
  }
  if (judged.length < counted.length) console.log(`${room}: ${counted.length - judged.length} were not run`);
  console.log(scoreLine(room, own, chosen.length - counted.length));
  if (scoreOf(own).share * 100 < Number(values.minimum)) process.exitCode = 1;
}

/** Returns the slice of the mutants, and of it a sample, in the order of the seed. */
function choose(mutants: readonly RoomMutant[]): RoomMutant[] {
  const order = (key: string): string => createHash("sha256").update(`${values.seed} ${key}`).digest("hex");
  return mutants
    .map((mutant) => ({ mutant, place: order(mutant.key) }))
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ mutant }) => mutant)
    .filter((_, index) => index % sliceCount === slice - 1)
    .slice(0, values.sample === undefined ? undefined : Number(values.sample));
}

function readFates(room: string): Map<string, Fate> {
  const file = fatesFile(room);
  if (values.fresh || !existsSync(file)) return new Map();
  const fates = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Fate);
  // The last line about a mutant counts.
  const found = new Map(fates.map((fate) => [fate.key, fate]));
  if (values.again)
    for (const [key, fate] of found) if (fate.status !== "killed" || wasLate(fate)) found.delete(key);
  return found;
}

function fatesFile(room: string): string {
  return path.join(FOLDER, `${nameOf(room)}.jsonl`);
}

function nameOf(room: string): string {
  return room.replaceAll("/", "-");
}

/**
 * Runs each test file once without a mutant. Returns which mutants it passes. Leaves out files that fail. Files that ran
 * before on the same sources do not run again, even if the run was stopped.
 */
async function cover(
  copy: string,
  room: string,
  sources: readonly { readonly name: string; readonly content: string }[],
): Promise<Map<string, Coverage>> {
  const file = path.join(FOLDER, `${nameOf(room)}.coverage.json`);
  const known = (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}) as Record<string, Coverage>;
  const base = createHash("sha256")
    .update(COVERAGE_FORM)
    .update(sources.map(({ content }) => content).join());
  const allKeys = testsOf(room).map((test) => {
    const text = readFileSync(path.join(copy, test));
    return { test, key: `${test} ${base.copy().update(text).digest("hex").slice(0, 16)}` };
  });
  const keys = allKeys.filter(({ test }) => test.startsWith(values.tests));
  const missing = keys
    .filter(({ key }) => known[key] === undefined)
    .map(({ test, key }, index) => {
      const name = String(index).padStart(4, "0");
      return { test, key, name, output: path.join(copy, `mutants/${name}.json`) };
    });
  const leftOutKey = `${LEFT_OUT}${base.copy().digest("hex").slice(0, 16)}`;
  const loadedByLeftOut = new Set(known[leftOutKey]?.loading);
  const store = (): void => {
    // The files after it in the same process did not load the sources again.
    known[leftOutKey] = { loading: [...loadedByLeftOut], hooks: [], tests: {}, durationMs: 0 };
    const stored = [...allKeys.map(({ key }) => key), leftOutKey].map((key) => [key, known[key]]);
    writeFileSync(file, JSON.stringify(Object.fromEntries(stored)));
  };
  // A module that a test loads late would pass its constants within that test alone, and then in no other one.
  const preloaded = sources
    .filter(({ name }) => !name.endsWith("-worker.ts"))
    .map(({ name }) => path.join(copy, name));
  const verdicts = new Map<string, Verdict>();
  for (const isolate of [false, true]) {
    const files = missing.filter(({ test }) => needsIsolation(test) === isolate);
    // A file that never ends takes the verdicts of those after it along.
    for (let rest = files; rest.length > 0; rest = rest.filter(({ name }) => !verdicts.has(name))) {
      const found = await runBatch(
        copy,
        rest.slice(0, COVER_COUNT).map(({ test, name, output }) => ({
          name,
          testFile: test,
          before: `const isOn = true;
const loaded = watchCoverage(${JSON.stringify(output)});
for (const source of ${JSON.stringify(isolate ? [] : preloaded)}) await import(source);`,
          after: "loaded();",
        })),
        { isolate, stuckMs: COVER_STUCK_MS, testTimeoutMs: COVER_TEST_TIMEOUT_MS },
      );
      for (const { test, key, name, output } of rest) {
        const verdict = found.get(name);
        if (verdict === undefined) continue;
        verdicts.set(name, verdict);
        const coverage = existsSync(output) ? readCoverage(output) : undefined;
        if (!verdict.failed && coverage !== undefined) known[key] = coverage;
        else {
          console.error(`left out, because it fails without a mutant: ${test}: ${verdict.by ?? "not run"}`);
          for (const id of coverage?.loading ?? []) loadedByLeftOut.add(id);
        }
      }
      store();
    }
  }
  store();
  const found = new Map(
    [...keys, { test: LEFT_OUT, key: leftOutKey }].flatMap(({ test, key }) =>
      known[key] === undefined ? [] : [[test, known[key]] as const],
    ),
  );
  for (const [test, { durationMs }] of found)
    if (test !== LEFT_OUT) console.error(`${(durationMs / 1000).toFixed(1)} s ${test}`);
  return found;
}

function readCoverage(file: string): Coverage {
  return JSON.parse(readFileSync(file, "utf8")) as Coverage;
}

/** The tests of one file that pass a mutant. */
interface Reach {
  readonly testFile: string;
  /** All tests, if a hook passes it, or if the sources do while they load. */
  readonly tests: readonly string[] | undefined;
  /** Whether the file needs sources of its own: it replaces some, or the sources pass the mutant while they load. */
  readonly isolate: boolean;
  /** How long the file takes without a mutant. */
  readonly durationMs: number;
}

/** Runs the tests that pass the mutants, the cheapest file first, until one fails. */
async function judge(
  copy: string,
  mutants: readonly RoomMutant[],
  coverage: ReadonlyMap<string, Coverage>,
): Promise<Fate[]> {
  const reaches = new Map(mutants.map((mutant) => [mutant, reachOf(mutant, coverage)]));
  const fates = new Map<RoomMutant, Fate>();
  for (const [mutant, reach] of reaches)
    if (reach.length === 0) fates.set(mutant, { key: mutant.key, status: "not-covered" });
  const inRounds = (isolate: boolean) => {
    const rounds: { mutant: RoomMutant; reach: Reach }[][] = [];
    for (const [mutant, reach] of reaches)
      for (const [round, one] of reach.filter((each) => each.isolate === isolate).entries()) {
        rounds[round] ??= [];
        rounds[round].push({ mutant, reach: one });
      }
    return rounds.map((each) => each.sort((x, y) => (x.reach.testFile < y.reach.testFile ? -1 : 1)));
  };
  const killed = (found: ReadonlyMap<RoomMutant, string>): void => {
    for (const [mutant, by] of found) fates.set(mutant, { key: mutant.key, status: "killed", by });
  };
  // One process goes on to a mutant's next test file only if it survived the ones before.
  killed(await killedOf(copy, inRounds(false).flat(), false));
  for (const round of inRounds(true))
    killed(
      await killedOf(
        copy,
        round.filter(({ mutant }) => !fates.has(mutant)),
        true,
      ),
    );
  return mutants.map((mutant) => fates.get(mutant) ?? { key: mutant.key, status: "survived" });
}

function reachOf({ id, file, original }: RoomMutant, coverage: ReadonlyMap<string, Coverage>): Reach[] {
  const all: Reach[] = [];
  const sameFile = (other: string): boolean => other.startsWith(`${id.split(".")[0]}.`);
  // The first test file loads the sources for all.
  const isStatic = [...coverage.values()].some(({ loading }) => loading.includes(id));
  for (const [testFile, { loading, hooks, tests, durationMs }] of coverage) {
    if (testFile === LEFT_OUT) continue;
    const own = Object.entries(tests).flatMap(([test, ids]) => (ids.includes(id) ? [test] : []));
    const passed = [...loading, ...hooks, ...Object.values(tests).flat()];
    const isolate = isStatic || needsIsolation(testFile);
    if (isStatic && passed.some(sameFile)) all.push({ testFile, tests: undefined, isolate, durationMs });
    else if (hooks.includes(id)) all.push({ testFile, tests: undefined, isolate, durationMs });
    else if (own.length > 0) all.push({ testFile, tests: own, isolate, durationMs });
  }
  // Coverage does not show what runs on a thread.
  if (all.length === 0 && file.endsWith("-worker.ts"))
    for (const [testFile, { durationMs }] of coverage)
      if (testFile.includes(path.dirname(file).slice("src".length)))
        all.push({ testFile, tests: undefined, isolate: true, durationMs });
  // Only calls at the same time show a missing lock.
  const isLock = /^ ?(?:FOR|SKIP LOCKED)\b/.test(original);
  const isNamesake = (testFile: string): boolean =>
    path.basename(testFile, ".test.ts") === path.basename(file, ".ts");
  const rank = ({ testFile }: Reach): number =>
    isLock && testFile.startsWith("test/race/") ? 0 : isNamesake(testFile) ? 1 : 2;
  const found = all.sort((a, b) => rank(a) - rank(b) || a.durationMs - b.durationMs);
  const isSlow = ({ testFile, durationMs }: Reach): boolean => durationMs >= SLOW_MS && !isNamesake(testFile);
  const slow = found.filter(isSlow).slice(0, 1);
  const quick = found.filter((reach) => !isSlow(reach)).slice(0, NEAREST_COUNT - slow.length);
  return [...quick, ...slow];
}

/** Returns the killed mutants, each with the failure. */
async function killedOf(
  copy: string,
  trials: readonly { readonly mutant: RoomMutant; readonly reach: Reach }[],
  isolate: boolean,
): Promise<Map<RoomMutant, string>> {
  const killed = new Map<RoomMutant, string>();
  let waiting = [...trials];
  while (waiting.length > 0) {
    const named = waiting.map((trial, index) => ({ ...trial, name: `${String(index).padStart(4, "0")}` }));
    // Without a mutant the same tests must pass at the end, or what the mutants left behind has failed others.
    const lastOf = new Map(named.map(({ reach }) => [reach.testFile, reach]));
    const last = [...lastOf.values()].map(
      ({ testFile, tests }, index): Trial => ({
        name: `last-${index}`,
        testFile,
        before: `const isOn = switchOn("none", ${JSON.stringify(tests)});`,
      }),
    );
    const verdicts = await runBatch(
      copy,
      [...named.map(({ name, mutant, reach }) => trialOf(name, mutant, reach)), ...(isolate ? [] : last)],
      { isolate, stuckMs: Math.max(STUCK_MS, ...named.map(({ reach }) => STUCK_TIMES * reach.durationMs)) },
    );
    const polluted = new Set(
      last.flatMap(({ name, testFile }) => (verdicts.get(name)?.failed ? [testFile] : [])),
    );
    const rest: typeof waiting = [];
    const doubtful: typeof waiting = [];
    for (const trial of named) {
      const verdict = verdicts.get(trial.name);
      if (verdict === undefined) rest.push(trial);
      else if (verdict.failed && polluted.has(trial.reach.testFile)) doubtful.push(trial);
      else if (verdict.failed) killed.set(trial.mutant, `${trial.reach.testFile}: ${verdict.by ?? ""}`);
    }
    if (doubtful.length > 0)
      for (const [mutant, by] of await killedOf(copy, doubtful, true)) killed.set(mutant, by);
    waiting = rest.filter(({ mutant }) => !killed.has(mutant));
  }
  return killed;
}

function trialOf(name: string, mutant: RoomMutant, { testFile, tests }: Reach): Trial {
  return {
    name,
    testFile,
    before: `const isOn = switchOn(${JSON.stringify(mutant.id)}, ${JSON.stringify(tests)});`,
  };
}
