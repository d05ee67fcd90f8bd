import { bytesToHex } from "@noble/hashes/utils.js";
import { createWorkerEngine } from "../../client/crypto/engines/worker-engine.ts";
import type { SignResult } from "../../client/sdk/actions/signing/sign-within.ts";
import { createClient } from "../../client/sdk/client.ts";
import type { AlgorithmTriple } from "../../protocol/algorithms.ts";
import { hexToBytes } from "../../protocol/bytes.ts";
import { publicKeyFromUserOutput } from "../../protocol/dwallet-output.ts";
import { addressOfKey } from "../../protocol/signatures/addresses.ts";
import { EXIT } from "../command-line/command.ts";
import type { DevelopmentAccess } from "../connections/development-file.ts";
import {
  chooseTriple,
  createStageClock,
  type DemoArguments,
  type StageClock,
  type StageTime,
  verifyOutside,
} from "./demo-steps.ts";
import { startThrowawayService } from "./throwaway-service.ts";

/**
 * Runs the whole flow from a seed to a verified signature, on its own service in a temporary folder. Prints each stage
 * with its time. Returns exit code 1 unless an outside library accepts the signature. Ctrl-C and SIGTERM also stop the
 * service and remove the folder.
 */
export async function runDemo(values: DemoArguments & DemoOptions): Promise<number> {
  const triple = chooseTriple(values);
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort(new Error("interrupted"));
  for (const name of INTERRUPTS) process.on(name, onSignal);
  try {
    const clock = createStageClock((text) => void process.stdout.write(text));
    clock.begin("start the service");
    const { curve, signatureAlgorithm } = triple;
    const environment = { PRESIGN_BUCKETS: `${curve}/${signatureAlgorithm}` };
    const service = await startThrowawayService(environment, interrupt.signal);
    let report: DemoReport;
    try {
      const message = new TextEncoder().encode(values.message);
      report = await demonstrate(service.access, { triple, message }, clock, interrupt.signal);
    } finally {
      await service.stop();
    }
    process.stdout.write(describe(report, triple));
    if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`);
    return report.verified ? EXIT.done : EXIT.failed;
  } finally {
    for (const name of INTERRUPTS) process.off(name, onSignal);
  }
}

/** The last line of stdout with `--json`. */
export interface DemoReport {
  readonly curve: string;
  readonly algorithm: string;
  readonly hash: string;
  readonly messageHex: string;
  readonly publicKeyHex: string;
  readonly signatureHex: string;
  readonly dwalletId: string;
  readonly signRequestId: string;
  readonly signSessionId: string;
  readonly txDigests: {
    readonly onboard: string;
    readonly accept: string | null;
    readonly sign: string | null;
  };
  readonly verified: boolean;
  readonly stages: readonly StageTime[];
  /** The longest time after start-up that code blocked the service's event loop, or null if unknown. */
  readonly longestBlockMs: number | null;
  /** The longest time that the event loop was ready but waited for a CPU. */
  readonly longestWaitMs: number | null;
}

/** Options of the demo. */
export interface DemoOptions {
  readonly message: string;
  readonly json: boolean;
}

const INTERRUPTS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Makes a dWallet from a fresh seed on a running service, signs with it and verifies the signature with an outside
 * library. Reports each stage to `clock`. An abort ends it.
 */
export async function demonstrate(
  access: DevelopmentAccess,
  { triple, message }: { readonly triple: AlgorithmTriple; readonly message: Uint8Array },
  clock: StageClock,
  signal: AbortSignal,
): Promise<DemoReport> {
  const { curve, signatureAlgorithm, hash } = triple;
  const { baseUrl, apiKey, network } = access;
  const client = createClient({ baseUrl, apiKey, network, engine: createWorkerEngine() });
  const seed = globalThis.crypto.getRandomValues(new Uint8Array(32));
  const onProgress = (action: string) => (stage: string) => {
    if (stage === "done") clock.end();
    else clock.begin(`${action}: ${stage}`);
  };
  const onboarded = await client.onboard({ seed, curve }, { signal, onProgress: onProgress("onboard") });
  const { dwallet, userSecretKeyShareHex, userPublicOutputHex, txDigests } = onboarded;
  const signed: SignResult = await client.sign(
    {
      seed,
      dwalletId: dwallet.id,
      curve,
      signatureAlgorithm,
      hashScheme: hash,
      message,
      userSecretKeyShareHex,
    },
    { signal, onProgress: onProgress("sign") },
  );
  clock.begin("verify outside");
  const publicKey = publicKeyFromUserOutput(curve, hexToBytes(userPublicOutputHex));
  const verified = await verifyOutside({ triple, publicKey, message, signature: signed.signature });
  clock.end();
  return {
    curve,
    algorithm: signatureAlgorithm,
    hash,
    messageHex: bytesToHex(message),
    publicKeyHex: bytesToHex(publicKey),
    signatureHex: bytesToHex(signed.signature),
    dwalletId: dwallet.id,
    signRequestId: signed.signRequestId,
    signSessionId: signed.signSessionId,
    txDigests: { ...txDigests, sign: signed.txDigest },
    verified,
    stages: clock.stages,
    ...(await readLoop(baseUrl)),
  };
}

/** Reads the service's measurements from its metrics. */
async function readLoop(baseUrl: string): Promise<Pick<DemoReport, "longestBlockMs" | "longestWaitMs">> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  const read = (name: string): number | null => {
    const line = new RegExp(`^service_event_loop_longest_${name}_seconds(?:\\{[^}]*\\})? (\\S+)$`, "m");
    const match = line.exec(text);
    return match === null ? null : 1000 * Number(match[1]);
  };
  return { longestBlockMs: read("block"), longestWaitMs: read("wait") };
}

const milliseconds = (value: number | null): string =>
  value === null ? "unknown" : `${value.toFixed(1)} ms`;

function describe(report: DemoReport, { signatureAlgorithm, hash }: AlgorithmTriple): string {
  const { kind, address } = addressOfKey(signatureAlgorithm, hash, hexToBytes(report.publicKeyHex));
  const { signatureHex, txDigests, longestBlockMs, longestWaitMs } = report;
  const v = signatureHex.length === 130 ? [["v", String(Number.parseInt(signatureHex.slice(128), 16))]] : [];
  const rows = [
    ["dWallet", report.dwalletId],
    ["public key", report.publicKeyHex],
    [`address (${kind})`, address],
    ["message", report.messageHex],
    ["signature", signatureHex],
    ...v,
    ["sign session", report.signSessionId],
    ["transactions", `${txDigests.onboard} (DKG)`],
    ["", `${txDigests.accept} (accept)`],
    ["", `${txDigests.sign} (sign)`],
    ["longest block of the service's event loop", milliseconds(longestBlockMs)],
    ["longest time without a processor", milliseconds(longestWaitMs)],
    ["verified by an outside library", report.verified ? "yes" : "NO"],
  ];
  return `\n${rows.map(([name, value]) => `${`${name}`.padEnd(24)}  ${value}`).join("\n")}\n`;
}
