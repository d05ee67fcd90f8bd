import { writeFile } from "node:fs/promises";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { SignatureAlgorithm } from "../../../gen/client/tss/v1/types_pb.ts";
import { createReferenceEngine } from "../../client/crypto/engines/reference-engine.ts";
import { createWorkerEngine } from "../../client/crypto/engines/worker-engine.ts";
import type { OnboardResult } from "../../client/sdk/actions/onboard-within.ts";
import { pinsOf } from "../../client/sdk/chain/network.ts";
import { createClient } from "../../client/sdk/client.ts";
import { TssError } from "../../client/sdk/errors.ts";
import type { Network } from "../../client/sdk/names.ts";
import type { AlgorithmTriple, CurveName } from "../../protocol/algorithms.ts";
import { hexToBytes } from "../../protocol/bytes.ts";
import { publicKeyFromUserOutput } from "../../protocol/dwallet-output.ts";
import { formatDollars } from "../../protocol/price-table.ts";
import { loadClientConfig } from "../../service/config/config.ts";
import { explainSilence, protocolOf } from "../../service/operator/health/checks/chain-checks.ts";
import { fetchInTime } from "../../service/operator/health/fetch-in-time.ts";
import { createRedact } from "../../service/platform/telemetry/redact.ts";
import { Secret } from "../../service/platform/telemetry/secret.ts";
import { type CommandContext, EXIT, UsageError } from "../command-line/command.ts";
import { checkUrl, findKey } from "../connections/remote.ts";
import { messageOf } from "../connections/unreachable-error.ts";
import { findQuickStart } from "../find-quick-start.ts";
import { createStageClock, type DemoArguments, fittingTriples, verifyOutside } from "./demo-steps.ts";
import {
  describeTry,
  failureOf,
  gatherTransactions,
  readDWalletEvidence,
  type Stage,
  type TryReport,
  versions,
} from "./try-report.ts";

/**
 * Onboards once on the curve of each combination and signs once with each, on a running service. A failed stage does
 * not end the others, except those that need it. Every text of the report is redacted.
 */
export async function tryNetwork(options: TryOptions): Promise<TryReport> {
  const { access, triples, seed, startedAt, isReference, note } = options;
  const { baseUrl, apiKey, network } = access;
  const stages: Stage[] = [];
  const pins = pinsOf(network);
  const secrets = [new Secret(apiKey), new Secret(Buffer.from(seed).toString("hex"))];
  const { raw } = createClient({ baseUrl, apiKey, network });
  const run = async (name: string, expected: string, work: (found: Findings) => Promise<string>) => {
    const found: Findings = {};
    const clock = createStageClock(() => {});
    found.onProgress = (step) => (step === "done" ? clock.end() : clock.begin(step));
    note(`${name} ...`);
    const beganMs = performance.now();
    const end = (status: Stage["status"], seen: string, failure?: Stage["failure"]) => {
      clock.end();
      const { onProgress: _, ...evidence } = found;
      const steps = clock.stages.length === 0 ? {} : { steps: clock.stages };
      const durationMs = Math.round(performance.now() - beganMs);
      stages.push({
        name,
        status,
        expected,
        seen,
        durationMs,
        ...steps,
        ...evidence,
        ...(failure && { failure }),
      });
    };
    try {
      const before = (await raw.billing.getBalance({})).balanceMicroUsd;
      const seen = await work(found);
      const spent = before - (await raw.billing.getBalance({})).balanceMicroUsd;
      if (found.cost) found.cost = { ...found.cost, creditMicroUsd: String(spent) };
      end("ok", seen);
      return true;
    } catch (error) {
      const failure = failureOf(error, isReference);
      await gatherEvidence(failure.metadata, found).catch((cause: unknown) => {
        found.ids = { ...found.ids, evidence: `incomplete: ${messageOf(cause)}` };
      });
      end("failed", `${failure.reason}: ${failure.message}`, failure);
      return false;
    }
  };
  const skip = (name: string, expected: string, because: string) =>
    void stages.push({ name, status: "skipped", expected, seen: `not tried: ${because}`, durationMs: 0 });

  const curves = [...new Set(triples.map(({ curve }) => curve))];
  let fullnodeUrl = access.fullnodeUrl ?? pins?.fullnodeUrls[0] ?? "";
  let sui: SuiGrpcClient | undefined;
  const isServed = await run("service", `serves ${network}, with credit for all stages`, async () => {
    const found = await raw.onboarding.getNetwork({});
    if (found.network !== network)
      throw new TssError("NETWORK_MISMATCH", `the service serves ${found.network}`);
    fullnodeUrl ||= found.fullnodeUrl;
    const [{ balanceMicroUsd, heldMicroUsd }, prices] = await Promise.all([
      raw.billing.getBalance({}),
      raw.billing.getPricing({}),
    ]);
    const byAlgorithm = new Map(prices.signPrices.map((one) => [one.signatureAlgorithm, one.priceMicroUsd]));
    const needed = triples.reduce(
      (sum, { signatureAlgorithm }) =>
        sum + (byAlgorithm.get(SignatureAlgorithm[signatureAlgorithm]) ?? prices.signPriceMicroUsd),
      BigInt(curves.length) * prices.dkgPriceMicroUsd,
    );
    const free = balanceMicroUsd - heldMicroUsd;
    if (free < needed)
      throw new TssError(
        "INSUFFICIENT_CREDIT",
        `${formatDollars(needed)} are needed, ${formatDollars(free)} are free`,
      );
    return `${network}, network key ${found.networkEncryptionKeyId}, ${formatDollars(free)} of credit`;
  });
  secrets.push(new Secret(fullnodeUrl));
  const pinned = pins?.chainIdentifier;
  const isRead = await run("fullnode", `answers for chain ${pinned ?? "of the local network"}`, async () => {
    const url = new Secret(fullnodeUrl);
    sui = new SuiGrpcClient({ network, baseUrl: fullnodeUrl, format: "binary", fetch: fetchInTime() });
    let chainIdentifier: string;
    try {
      ({ chainIdentifier } = await sui.core.getChainIdentifier());
    } catch (cause) {
      throw new TssError("CHAIN_UNAVAILABLE", messageOf(await explainSilence(url, cause)), { cause });
    }
    if (pinned !== undefined && chainIdentifier !== pinned)
      throw new TssError("NETWORK_MISMATCH", `the fullnode serves ${chainIdentifier}`);
    return `${new URL(fullnodeUrl).host} over ${protocolOf(url)}, chain ${chainIdentifier}`;
  });

  const client = createClient({
    baseUrl,
    apiKey,
    network,
    engine: isReference ? createReferenceEngine() : createWorkerEngine(),
    ...(access.fullnodeUrl !== undefined && { fullnodeUrl: access.fullnodeUrl }),
  });
  const keys = new Map<CurveName, OnboardResult>();
  for (const curve of curves) {
    const name = `onboard ${curve}`;
    const expected = "an Active dWallet with an output of version 2 that fits the user's half";
    if (!isServed || !isRead) skip(name, expected, "the service or the fullnode did not pass");
    else
      await run(name, expected, async (found) => {
        const { onProgress } = found;
        const made = await client.onboard({ seed, curve }, onProgress && { onProgress });
        // The share begins with its length, which a text may omit.
        const share = made.userSecretKeyShareHex;
        secrets.push(new Secret(share), new Secret(share.slice(-SCALAR_DIGITS)));
        keys.set(curve, made);
        const { dwallet, txDigests, publicKeyHex, encryptedUserSecretKeyShareId } = made;
        found.ids = { dwalletId: dwallet.id, encryptedUserSecretKeyShareId, publicKeyHex };
        await gatherCost(found, [txDigests.onboard, txDigests.accept], dwallet.id);
        const object = await readDWalletEvidence(sui!, dwallet.id);
        found.objects = [object];
        return `${dwallet.id}: ${object.note}`;
      });
  }
  for (const triple of triples) {
    const { curve, signatureAlgorithm, hash } = triple;
    const name = `sign ${curve} ${signatureAlgorithm} ${hash}`;
    const expected = "a signature from a presign of version 2 that an outside library accepts";
    const key = keys.get(curve);
    if (key === undefined) skip(name, expected, `there is no dWallet on ${curve}`);
    else
      await run(name, expected, async (found) => {
        const { onProgress } = found;
        const { signature, signRequestId, signSessionId, txDigest } = await client.sign(
          {
            seed,
            curve,
            signatureAlgorithm,
            hashScheme: hash,
            message: MESSAGE,
            dwalletId: key.dwallet.id,
            userSecretKeyShareHex: key.userSecretKeyShareHex,
          },
          onProgress && { onProgress },
        );
        found.ids = { dwalletId: key.dwallet.id, signRequestId, signSessionId };
        await gatherCost(found, [txDigest], signSessionId);
        const verdict = await judge(triple, hexToBytes(key.userPublicOutputHex), signature);
        return `${Buffer.from(signature).toString("hex")}, ${verdict}`;
      });
  }
  const redact = createRedact(secrets);
  const report: TryReport = {
    versions: versions(),
    network,
    startedAt,
    stages,
    engine: isReference ? "reference" : "own",
  };
  return JSON.parse(redact(JSON.stringify(report))) as TryReport;

  async function gatherCost(
    found: Findings,
    digests: readonly (string | null)[],
    paidId: string,
  ): Promise<void> {
    const { transactions, fee, gasMist } = await gatherTransactions(sui!, digests, [paidId]);
    found.transactions = transactions;
    found.cost = {
      gasMist: String(gasMist),
      ika: String(fee.ika),
      sui: String(fee.sui),
      creditMicroUsd: "0",
    };
  }

  /** Reads what the service and the chain know about the ids of a failure. */
  async function gatherEvidence(
    { signRequestId, dwalletId }: Readonly<Record<string, string>>,
    found: Findings,
  ): Promise<void> {
    if (signRequestId !== undefined) {
      const request = await raw.signing.getSign({ signRequestId });
      const { presignId, signSessionId = "", txDigest, failure } = request;
      const text = failure && `${failure.reason}: ${failure.message}`;
      found.ids = { signRequestId, presignId, signSessionId, ...(text && { serviceFailure: text }) };
      if (txDigest !== undefined && sui) await gatherCost(found, [txDigest], signSessionId);
    }
    if (dwalletId === undefined || sui === undefined) return;
    found.ids = { ...found.ids, dwalletId };
    found.objects = [await readDWalletEvidence(sui, dwalletId)];
  }
}

/** Runs `tss try`: prints each stage, and writes a file for a report if one did not pass. */
export async function runTry(values: TryValues, context: CommandContext): Promise<number> {
  const triples = fittingTriples(values);
  const access = await findAccess(values, context);
  const seed = globalThis.crypto.getRandomValues(new Uint8Array(32));
  const startedAt = new Date().toISOString();
  const report = await tryNetwork({
    access,
    triples,
    seed,
    startedAt,
    isReference: values.reference,
    note: (line) => context.note(line),
  });
  const bundle = JSON.stringify(report, undefined, 2);
  const hasPassed = report.stages.every(({ status }) => status === "ok");
  context.print(values.json ? bundle : describeTry(report));
  if (hasPassed && values.bundle === undefined) return EXIT.done;
  const path = values.bundle ?? `tss-try-${report.network}-${startedAt.replace(/\D/g, "").slice(0, 14)}.json`;
  await writeFile(path, `${bundle}\n`, { mode: 0o600 });
  context.note(
    hasPassed
      ? `wrote ${path}`
      : `wrote ${path}: attach it to an issue of this project; it holds public ids and types, and no secret`,
  );
  return hasPassed ? EXIT.done : EXIT.failed;
}

/** Options of `tss try`. */
export interface TryValues extends DemoArguments {
  readonly url: string | undefined;
  readonly network: Network | undefined;
  readonly fullnode: string | undefined;
  readonly reference: boolean;
  readonly bundle: string | undefined;
  readonly json: boolean;
}

/** Options of {@link tryNetwork}. */
export interface TryOptions {
  readonly access: {
    readonly baseUrl: string;
    readonly apiKey: string;
    readonly network: Network;
    /** Default: Sui's public one, or on a localnet the one that the service names. */
    readonly fullnodeUrl?: string | undefined;
  };
  readonly triples: readonly AlgorithmTriple[];
  /** 32 fresh random bytes. */
  readonly seed: Uint8Array;
  readonly startedAt: string;
  /** True to compute the halves with Ika's WebAssembly. */
  readonly isReference: boolean;
  /** Called when a stage begins. */
  readonly note: (line: string) => void;
}

/** The evidence that a stage gathers. */
type Findings = {
  -readonly [Name in "ids" | "cost" | "transactions" | "objects"]?: Stage[Name];
} & { onProgress?: (step: string) => void };

const SCALAR_DIGITS = 64;
const MESSAGE = new TextEncoder().encode("tss try");

async function judge(
  triple: AlgorithmTriple,
  userOutput: Uint8Array,
  signature: Uint8Array,
): Promise<string> {
  const publicKey = publicKeyFromUserOutput(triple.curve, userOutput);
  try {
    if (await verifyOutside({ triple, publicKey, message: MESSAGE, signature }))
      return "accepted by the client and by an outside library";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    return "accepted by the client; the outside library is not installed";
  }
  throw new TssError("SIGNATURE_INVALID", "an outside library refuses the signature");
}

async function findAccess(
  { url: given, network, fullnode }: TryValues,
  { environment }: CommandContext,
): Promise<TryOptions["access"]> {
  const config = loadClientConfig(environment);
  const url = given ?? config.url;
  const running = url === undefined ? await findQuickStart(config) : undefined;
  const baseUrl = url === undefined ? running?.baseUrl : checkUrl(url);
  if (baseUrl === undefined)
    throw new UsageError(
      "this command needs a running service: set --url or TSS_URL, or start one here with `tss serve`",
    );
  const name = network ?? running?.network;
  if (name === undefined) throw new UsageError("--network is missing: which network does the service serve?");
  const apiKey = running?.apiKey ?? (await findKey(baseUrl, "project", config));
  return { baseUrl, apiKey, network: name, ...(fullnode !== undefined && { fullnodeUrl: fullnode }) };
}
