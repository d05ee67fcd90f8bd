/** A mutant that no test can kill, or that decides nothing. */
export interface Explained {
  readonly file: string;
  /** Text of the source that occurs once in the file and contains the mutated place's line. */
  readonly at: string;
  /** The mutated text of that line, if others of the line can be killed. */
  readonly original?: string;
  /** What the mutant puts there; every mutant of the place if it is left out. */
  readonly replacement?: string;
  readonly because: string;
}

/** The mutants that no test can kill, by file. */
export const EXPLAINED: readonly Explained[] = [
  {
    file: "src/service/signing/loops/retention-loop.ts",
    at: "ORDER BY r.updated_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED",
    replacement: "",
    because: "replicas that empty the same rows write the same",
  },
  {
    file: "src/service/signing/loops/retention-loop.ts",
    at: "  ORDER BY updated_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED",
    replacement: "",
    because: "a row that two replicas delete is deleted once",
  },
  {
    file: "src/service/signing/lost-sign-requests.ts",
    at: "FROM sign_request WHERE id = ${id} AND status = 'prepared' FOR UPDATE",
    replacement: "",
    because: "a reconciliation runs beside no other process",
  },
  {
    file: "src/service/signing/lost-sign-requests.ts",
    at: "WHERE presign_id = ${presignId} AND status = 'prepared' FOR UPDATE",
    replacement: "",
    because: "a reconciliation runs beside no other process",
  },
  {
    file: "src/service/ledger/verify-ledger.ts",
    at: "CASE WHEN state = 'credited' THEN value_micro_usd",
    replacement: "true",
    because: "the table refuses a waiting deposit with a value",
  },
  {
    file: "src/service/presigns/read-demand.ts",
    at: "FROM (SELECT * FROM presign WHERE network = ${network} AND ready_at IS NOT NULL",
    replacement: "true",
    because: "the rows are grouped by their own network; the condition bounds what is read",
  },
  {
    file: "src/service/signing/loops/exit-loop.ts",
    at: "WHERE network = ${network} AND state = 'settling' LIMIT 1`",
    replacement: "",
    because: "the loop only asks whether there is a row",
  },
  {
    file: "src/service/billing/deposits/follow-checkpoints.ts",
    at: "for (let first = from; first < to; first += READS_AT_ONCE) {",
    original: "first < to",
    replacement: "first <= to",
    because: "the further turn reads no checkpoint",
  },
  {
    file: "src/service/billing/sweeps/queue-sweeps.ts",
    at: "ORDER BY value DESC, c.object_id LIMIT ${options.maxCoinCount} FOR UPDATE OF c SKIP LOCKED) u`,",
    original: "LIMIT §3§",
    replacement: "",
    because: "the plan takes no more coins; the limit bounds what is locked",
  },
  {
    file: "src/service/onboarding/dwallet-row.ts",
    at: '...(name === undefined && state === undefined ? [] : [name ?? "", state ?? ""]),',
    original: "[]",
    replacement: '["Stryker was here"]',
    because: "a page token is only compared with others of the same list",
  },
  {
    file: "src/service/onboarding/parameter-store.ts",
    at: "    () => false,\n  );",
    original: "() => false",
    replacement: "() => undefined",
    because: "a missing answer counts as false",
  },
  {
    file: "src/service/onboarding/create-dwallet.ts",
    at: "if (!row && request.name !== undefined) throw nameTaken(request.name);",
    original: "request.name !== undefined",
    replacement: "true",
    because: "a row without a name conflicts with its session alone, which then has a row",
  },
  {
    file: "src/client/sdk/chain/chain-session.ts",
    at: "if (object === undefined || object instanceof Error || !object.previousTransaction) return undefined;",
    original: "object === undefined || object instanceof Error",
    replacement: "object === undefined && object instanceof Error",
    because: "the error that follows from it is a missing answer, too",
  },
  ...["create-dkg-message", "prove-points"].map((name) => ({
    file: `src/client/crypto/${name}.ts`,
    at: "if (answer === undefined) throw new EngineError(",
    original: "answer === undefined",
    replacement: "false",
    because: "the search for a challenge fails with a probability of 2^-184",
  })),
  ...[
    ["create-ecdsa-message", "const forms: (Form | undefined)[] = [undefined, undefined];"],
    [
      "create-ecdsa-message",
      "const partialSignature: (EvaluationLadders | undefined)[] = [undefined, undefined];",
    ],
    [
      "create-ecdsa-message",
      "const displacedNonceShare: (EvaluationLadders | undefined)[] = [undefined, undefined];",
    ],
    ["prove-evaluation", "const forms: (Form | undefined)[] = [undefined, undefined];"],
  ].map(([name, at]) => ({
    file: `src/client/crypto/${name}.ts`,
    at: at!,
    original: "[undefined, undefined]",
    replacement: "[]",
    because: "a missing item of an array is undefined as well",
  })),
  {
    file: "src/client/crypto/derive-sign-randomness.ts",
    at: "Math.ceil(bits / 8)",
    original: "bits / 8",
    because: "more octets of HKDF begin with the same ones, and the number has only its bits",
  },
  {
    file: "src/protocol/dwallet-output.ts",
    at: 'byteReader(output, "dWallet output")',
    original: '"dWallet output"',
    because: "it names the place in an error for people",
  },
  {
    file: "src/protocol/dwallet-output.ts",
    at: "body.vector(32).slice()",
    original: "body.vector(32).slice()",
    because: "a copy and a view have the same octets, and nobody changes an output",
  },
  ...[["index < ODD_PRIMES.length", "for (let index = 0; index < ODD_PRIMES.length; index++) {"]].map(
    ([original, at]) => ({
      file: "src/protocol/class-groups/forms.ts",
      at: at!,
      original: original!,
      because:
        "small factors only save time: any candidate gives the same product, and fewer are ruled out early",
    }),
  ),
  {
    file: "src/client/crypto/sign-request.ts",
    at: 'const publicKey = decodePoint(curve, dwallet.publicKey, "public key");',
    original: '"public key"',
    because: "it names the place in an error for people",
  },
  {
    file: "src/client/sdk/actions/resume-token.ts",
    at: 'if (typeof token !== "string" || token.length > MAX_CHARACTERS || !token.startsWith(PREFIX))',
    original: "token.length > MAX_CHARACTERS",
    replacement: "token.length >= MAX_CHARACTERS",
    because: "the longest token has fewer than 1000 characters; the bound saves the decoding of longer texts",
  },
  ...["found", "result"].map((name) => ({
    file: "src/client/sdk/custody/submit-consent.ts",
    at: `const use = useIn(${name}.Transaction?.events ?? [], consent);`,
    original: "[]",
    replacement: '["Stryker was here"]',
    because: "a text has no type and is no event of the Treasury",
  })),
  {
    file: "src/client/sdk/calls/service-calls.ts",
    at: 'const isList = output.field["nextPageToken"] !== undefined && items !== undefined;',
    original: "items !== undefined",
    replacement: "true",
    because: "every message of the contract with a page token has a list",
  },
  {
    file: "src/service/chain/submit/lane-driver.ts",
    at: "if (block.operations.length < claimed.length) await unclaimOperations(database, lease, block.operations);",
    original: "block.operations.length < claimed.length",
    replacement: "block.operations.length <= claimed.length",
    because: "without operations that did not fit, the statement frees none",
  },
  ...["topVersion !== null", "nextDigest !== null"].map((original) => ({
    file: "src/service/billing/deposits/scan-address-balance.ts",
    at: "topVersion !== null && nextDigest !== null\n",
    original,
    replacement: "true",
    because: "the table refuses a walk with only one of the two",
  })),
  ...[
    ...["doubtedPicoUsd === null", "doubtedAt === null", "since === null", "beyond === null"],
    "doubtedPicoUsd === null || doubtedAt === null",
    "doubtedPicoUsd === null || doubtedAt === null || since === null",
  ].map((original) => ({
    file: "src/service/billing/prices/stored-prices.ts",
    at: "doubtedPicoUsd === null || doubtedAt === null || since === null || beyond === null",
    original,
    replacement: "false",
    because: "the table refuses a doubted price with only some of its columns",
  })),
  ...[
    "doubtedPicoUsd === null && doubtedAt === null",
    "(doubtedPicoUsd === null || doubtedAt === null) && since === null",
    "(doubtedPicoUsd === null || doubtedAt === null || since === null) && beyond === null",
  ].map((replacement) => ({
    file: "src/service/billing/prices/stored-prices.ts",
    at: "doubtedPicoUsd === null || doubtedAt === null || since === null || beyond === null",
    replacement,
    because: "the table refuses a doubted price with only some of its columns",
  })),
  {
    file: "src/service/billing/deposits/scan-address-balance.ts",
    at: "updated_at < now() - ${MARK_OLD_MS} * interval '1 millisecond' AS",
    original: "<",
    replacement: "<=",
    because: "the mark is old one microsecond sooner",
  },
  {
    file: "src/service/billing/deposits/checkpoint-follower.ts",
    at: "WHERE network = ${network} AND (leased_until <= now() OR fence = ${fence}::bigint)",
    original: "<=",
    replacement: "<",
    because: "the lease ends one microsecond later",
  },
  {
    file: "src/service/billing/prices/price-readers.ts",
    at: 'return reading === undefined ? [] : [[String(id).replace(/^0x/, "").toLowerCase(), reading]];',
    original: "reading === undefined",
    replacement: "false",
    because: "the reader of the map skips a feed without a price",
  },
];

/** Returns whether an entry is about a mutant of a source. */
export function explains(
  entry: Explained,
  mutant: {
    readonly file: string;
    readonly line: number;
    readonly original: string;
    readonly replacement: string;
  },
  source: string,
): boolean {
  if (entry.file !== mutant.file) return false;
  if (entry.original !== undefined && entry.original !== mutant.original) return false;
  if (entry.replacement !== undefined && entry.replacement !== mutant.replacement) return false;
  const start = source.indexOf(entry.at);
  const first = source.slice(0, start).split("\n").length;
  return start >= 0 && mutant.line >= first && mutant.line < first + entry.at.split("\n").length;
}
