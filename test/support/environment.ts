/** The path of the `tss` that this run has compiled, for the processes of its suites. */
export const compiledProgram = {
  read: (): string | undefined => process.env["TSS_TEST_PROGRAM"],
  write(program: string): void {
    process.env["TSS_TEST_PROGRAM"] = program;
  },
} as const;

/** What the tests read from the environment, in one place. */
export const environment = {
  /** Where nothing may be skipped for want of a server. */
  isCi: process.env["CI"] === "true",
  /** True in `npm run test:reference`, which repeats with Ika's own code what other runs compare with recordings. */
  isReference: process.env["TEST_REFERENCE"] === "true",
  /** A PostgreSQL server to make throw-away databases on. */
  databaseUrl: process.env["TEST_DATABASE_URL"] ?? "postgresql://postgres@127.0.0.1:5432/postgres",
  /** A Redis server to use a throw-away key prefix on. */
  redisUrl: process.env["TEST_REDIS_URL"] ?? "redis://127.0.0.1:6379",
} as const;

/** What a program that a test starts gets of this process's environment: where programs are, and nothing that configures. */
export const programEnvironment = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
} as const;

/**
 * Says that a server is missing and what goes untested for it. The run repeats the line at its end; in CI it is an
 * error instead, so that nothing is skipped there without anyone noticing.
 */
export function serverMissing(server: string, url: string, untested: string): void {
  sayMissing(`${server} at ${new URL(url).host}`, untested);
}

/** Says the same of a program that is not installed. */
export function programMissing(program: string, untested: string): void {
  sayMissing(program, untested);
}

function sayMissing(what: string, untested: string): void {
  const line = `skipped: no ${what}; ${untested} were not tested`;
  if (environment.isCi) throw new Error(line);
  console.warn(line);
}
