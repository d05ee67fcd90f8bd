import type { Keypair } from "@mysten/sui/cryptography";
import { pinsOf } from "../../client/sdk/chain/network.ts";
import { createClient, type LeaveResult, submitLeave, TssError } from "../../client/sdk/index.ts";
import { loadSignerConfig } from "../../service/config/config.ts";
import type { SignerOptions } from "../../signer/start-signer.ts";
import { type CommandContext, UsageError } from "../command-line/command.ts";
import { confirmName } from "../confirm.ts";
import { formatPairs } from "../output/format.ts";
import { readKeyFile } from "../treasury/key-files.ts";
import { type FoundKey, findKey, type KeyValues } from "./find-key.ts";
import { findService } from "./find-service.ts";

/**
 * `tss signer leave`: takes the capability of a key's dWallet out of the Treasury. A repeat after any interruption reads
 * the chain first, and prints the same exit again.
 */
export async function leaveService(values: LeaveValues, context: CommandContext): Promise<void> {
  const { name, to: recipient } = values;
  if (values.confirm !== undefined && values.confirm !== name)
    throw new UsageError("--confirm takes the name of the key that leaves");
  if (values.package !== undefined && values.keyFile === undefined)
    throw new UsageError("--package needs --key-file: the service knows the package");
  const config = loadSignerConfig(context.environment);
  const service = await findService(config, context);
  const gas = values.keyFile === undefined ? undefined : gasOf(values.keyFile, service);
  const key = await findKey(values, config, context);
  try {
    const dwalletId = dwalletOf(key, values);
    context.note(
      `The capability of ${name} goes from the Treasury to ${recipient}. The service and this signer then never sign with\n` +
        "it again, and only the holder of that address can. Nobody can undo it for you.",
    );
    if (values.confirm === undefined) await confirmName(context, name);
    // A watchtower takes it from the log: it explains the exit.
    const line = { audit: "leave", outcome: "requested", keyName: name, dwalletId, recipient };
    context.note(JSON.stringify({ time: new Date().toISOString(), ...line }));
    const wish = { seed: key.seed, dwalletId, recipient };
    print(await leave(wish, { service, gas, packageId: values.package }, context), name, context);
  } finally {
    key.seed.fill(0);
  }
}

/** The option values of `tss signer leave`. */
interface LeaveValues extends KeyValues {
  /** The Sui address that gets the capability. */
  readonly to: string;
  readonly confirm: string | undefined;
  readonly dwallet: string | undefined;
  /** The file with the key that pays for the gas. Undefined: the service submits. */
  readonly keyFile: string | undefined;
  readonly package: string | undefined;
}

interface Wish {
  readonly seed: Uint8Array;
  readonly dwalletId: string;
  readonly recipient: string;
}

/** How the exit gets to the chain. */
interface Way {
  readonly service: SignerOptions["service"];
  /** Undefined: through the service. */
  readonly gas: Gas | undefined;
  readonly packageId: string | undefined;
}

/** Who pays for an exit past the service, and the fullnode that gets it. */
interface Gas {
  readonly signer: Keypair;
  readonly fullnode: string;
}

async function leave(
  wish: Wish,
  { service, gas, packageId }: Way,
  { note }: CommandContext,
): Promise<LeaveResult> {
  const client = createClient({ ...service, apiKey: service.apiKey.reveal() });
  const onProgress = (stage: string, elapsedMs: number) =>
    note(`${(elapsedMs / 1_000).toFixed(1).padStart(6)} s  ${stage}`);
  if (gas === undefined) {
    try {
      return await client.leave(wish, { onProgress });
    } catch (error) {
      if (error instanceof TssError && !FINAL.has(error.reason)) note(HOW_ON);
      throw error;
    }
  }
  try {
    const authorization = await client.signLeave(wish, { onProgress });
    note(`submits it to ${new URL(gas.fullnode).host}, and ${gas.signer.toSuiAddress()} pays for the gas`);
    return await submitLeave({ authorization, packageId, ...gas });
  } catch (error) {
    // An earlier run has submitted it. Then `leave` only reads the chain.
    if (error instanceof TssError && error.reason === "DWALLET_LEFT")
      return await client.leave(wish, { onProgress });
    throw error;
  }
}

/** Reasons that do not depend on the service. */
const FINAL: ReadonlySet<string> = new Set(["DWALLET_LEFT", "NOT_OWNER", "VALIDATION"]);
const HOW_ON =
  "Repeat the command. If the service does not carry it out, --key-file submits the exit past the service.";

function print(
  { transactionDigest, dwalletCapId, dwalletId, recipient }: LeaveResult,
  name: string,
  context: CommandContext,
): void {
  context.print(
    formatPairs([
      ["left", name],
      ["dWallet", dwalletId],
      ["capability", dwalletCapId],
      ["recipient", recipient],
      ["transaction", transactionDigest ?? "the fullnode does not have it any more"],
    ]),
  );
  context.note(
    "The recipient signs with Ika's own SDK, with the capability and the seed: `tss signer export <name> --out <file>` writes it.",
  );
}

function dwalletOf({ name, dwallet }: FoundKey, values: LeaveValues): string {
  const known = dwallet?.dwalletId;
  if (known !== undefined && values.dwallet !== undefined && values.dwallet !== known)
    throw new UsageError(`--dwallet is another one than that of ${name}, ${known}`);
  const dwalletId = known ?? values.dwallet;
  if (dwalletId === undefined)
    throw new UsageError(
      `the store does not know the dWallet of ${name}: name it with --dwallet, or make the key with CreateKey`,
    );
  return dwalletId;
}

function gasOf(keyFile: string, { network, fullnodeUrl }: SignerOptions["service"]): Gas {
  const fullnode = (fullnodeUrl ?? pinsOf(network)?.fullnodeUrls)?.find((url) => /^http/i.test(url));
  if (fullnode === undefined)
    throw new UsageError("--key-file needs an http(s) URL in SIGNER_FULLNODE_URLS, to submit the exit to");
  return { signer: readKeyFile(keyFile), fullnode };
}
