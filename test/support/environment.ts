import path from "node:path";

/** The path of the `tss` that this run has compiled, for the processes of its suites. */
export const compiledProgram = {
  read: (): string | undefined => process.env["TSS_TEST_PROGRAM"],
  /** The folder of the whole compiled package. */
  folder(): string | undefined {
    const program = this.read();
    return program === undefined ? undefined : path.resolve(path.dirname(program), "../..");
  },
  write(program: string): void {
    process.env["TSS_TEST_PROGRAM"] = program;
  },
} as const;

/** The tests' environment variables. */
export const environment = {
  /** True in CI, where a missing server is an error. */
  isCi: process.env["CI"] === "true",
  /**
   * True in `npm run test:reference`, which recomputes with Ika's own code the values that other runs compare with
   * recordings, and in the nightly run, which repeats tests with more cases.
   */
  isReference: process.env["TEST_REFERENCE"] === "true",
  /** A PostgreSQL server to make throw-away databases on. */
  databaseUrl: process.env["TEST_DATABASE_URL"] ?? "postgresql://postgres@127.0.0.1:5432/postgres",
  /** A Redis server to use a throw-away key prefix on. */
  redisUrl: process.env["TEST_REDIS_URL"] ?? "redis://127.0.0.1:6379",
} as const;

/**
 * The cases of a test: all of them at night, and otherwise those that take another path through the code. Example:
 * `it.each(atNight(STAGES, STAGES.slice(0, 2)))`.
 */
export function atNight<T>(all: readonly T[], otherwise: readonly T[]): readonly T[] {
  return environment.isReference ? all : otherwise;
}

/** The environment of programs that a test starts: program paths, and no configuration. */
export const programEnvironment = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
} as const;

/** The environment of programs that ask a registry, which a private certificate authority may stand for. */
export const registryEnvironment = {
  ...programEnvironment,
  NODE_EXTRA_CA_CERTS: process.env["NODE_EXTRA_CA_CERTS"],
} as const;

/**
 * Reports a missing server and the skipped tests. The run repeats the line at its end. In CI it throws instead, so that
 * no test is skipped silently.
 */
export function serverMissing(server: string, url: string, untested: string): void {
  sayMissing(`${server} at ${new URL(url).host}`, untested);
}

/** Reports a missing program in the same way. */
export function programMissing(program: string, untested: string): void {
  sayMissing(program, untested);
}

/** Reports a missing program that not every machine of CI has. */
export function optionalProgramMissing(program: string, untested: string): void {
  console.warn(skippedLine(program, untested));
}

function sayMissing(what: string, untested: string): void {
  const line = skippedLine(what, untested);
  if (environment.isCi) throw new Error(line);
  console.warn(line);
}

function skippedLine(what: string, untested: string): string {
  return `skipped: no ${what}; ${untested} were not tested`;
}
