import { randomBytes } from "node:crypto";
import { SimulationError } from "@mysten/sui/client";
import { Transaction } from "@mysten/sui/transactions";
import type { ChainCalls } from "../../../chain/calls.ts";
import type { ChainNetwork } from "../../../chain/network.ts";
import { type ExecutionFailure, toFailure } from "../../../chain/outcome.ts";
import { createNetworkReader } from "../../../chain/reader.ts";
import { createTreasuryCalls } from "../../../chain/treasury/treasury-calls.ts";
import { deriveUserKeys, signEncryptionKey } from "../../../crypto/user-keys.ts";
import { CURVE_ALGORITHMS } from "../../../protocol/algorithms.ts";
import { type Finding, type HealthCheck, NotChecked, once } from "../../checks/health-check.ts";
import type { NetworkTarget } from "./network-target.ts";
import type { NetworkView } from "./network-view.ts";

/** Returns the checks that dry-run each call of the service. They sign and pay nothing. */
export function dryRunChecks(target: NetworkTarget, view: NetworkView): HealthCheck[] {
  const network = once(async () => {
    await view.reader();
    return target.connect();
  });
  const check = (name: string, look: (network: ChainNetwork) => Promise<Finding>): HealthCheck => ({
    name,
    advice:
      "compare the published Treasury and its configuration with docs/operations/deploy.md, then check again",
    look: async () => look(await network()),
  });
  return [
    check("dry run: key and DKG", lookAtDkg),
    check("dry run: presign", lookAtPresigns),
    check("dry run: share", lookAtShare),
    check("dry run: signature", lookAtSignature),
  ];
}

/** The result of a dry run. */
type Outcome = { readonly kind: "done" } | { readonly kind: "failed"; readonly failure: ExecutionFailure };

const MESSAGE_BYTES = 32;
/** A placeholder for the user's half, which the coordinator stores without reading it. */
const FILLER_BYTES = 64;

async function lookAtDkg(network: ChainNetwork): Promise<Finding> {
  const { id: networkEncryptionKeyId } = await createNetworkReader(network).networkKey();
  const keys = deriveUserKeys(randomBytes(32), "SECP256K1");
  const signature = signEncryptionKey(keys);
  keys.destroy();
  const { encryptionKey, signerPublicKey, signerAddress } = keys;
  const filler = new Uint8Array(FILLER_BYTES);
  const outcome = await dryRun(network, (calls) => {
    calls.registerEncryptionKey({ curve: 0, encryptionKey, signature, signerPublicKey });
    calls.payDkg({
      ...{ networkEncryptionKeyId, curve: 0, encryptionKeyAddress: signerAddress, signerPublicKey },
      ...{ userDkgMessage: filler, encryptedUserShareAndProof: filler, userPublicOutput: filler },
      ...{ sessionBytes: randomBytes(32), requestReference: randomBytes(16) },
    });
  });
  return succeeded(outcome, "the chain registers a made-up key and the Treasury pays for its DKG");
}

async function lookAtPresigns(network: ChainNetwork): Promise<Finding> {
  const { id: networkEncryptionKeyId } = await createNetworkReader(network).networkKey();
  const names: string[] = [];
  for (const { signatureAlgorithm, curveNumber, signatureAlgorithmNumber } of CURVE_ALGORITHMS) {
    const outcome = await dryRun(network, (calls) =>
      calls.payPresigns({
        ...{ networkEncryptionKeyId, curve: curveNumber, signatureAlgorithm: signatureAlgorithmNumber },
        sessionBytes: [randomBytes(32)],
      }),
    );
    succeeded(outcome, signatureAlgorithm);
    names.push(signatureAlgorithm);
  }
  return { status: "ok", found: `the Treasury pays for one of each of ${names.join(", ")}` };
}

async function lookAtShare(network: ChainNetwork): Promise<Finding> {
  const outcome = await dryRun(network, (calls) =>
    calls.acceptEncryptedUserShare({
      ...{ dwalletId: unknownId(), encryptedUserSecretKeyShareId: unknownId() },
      userOutputSignature: new Uint8Array(64),
    }),
  );
  return aborted(outcome, "an unknown dWallet");
}

async function lookAtSignature(network: ChainNetwork): Promise<Finding> {
  const outcome = await dryRun(network, (calls) =>
    calls.paySign({
      ...{ dwalletId: unknownId(), presignId: unknownId(), curve: 0, signatureAlgorithm: 0, hashScheme: 0 },
      ...{ message: new Uint8Array(MESSAGE_BYTES), userSignMessage: new Uint8Array(FILLER_BYTES) },
      ...{ sessionBytes: randomBytes(32), requestReference: randomBytes(16) },
    }),
  );
  return aborted(outcome, "an unknown dWallet");
}

async function dryRun(network: ChainNetwork, addCalls: (calls: ChainCalls) => void): Promise<Outcome> {
  const { core } = network.client;
  const [capId = ""] = network.treasury.operatorCapIds;
  const cap = (await createNetworkReader(network).ownedObjects([capId])).get(capId);
  if (cap === undefined) throw new NotChecked("the fullnode lacks the first OperatorCap");
  const transaction = new Transaction();
  transaction.setSender(network.senderAddress);
  addCalls(createTreasuryCalls(transaction, network, cap));
  try {
    const result = await core.simulateTransaction({ transaction, include: { effects: true } });
    const { status } = result.Transaction ?? result.FailedTransaction;
    return status.success ? { kind: "done" } : { kind: "failed", failure: toFailure(status.error) };
  } catch (error) {
    if (!(error instanceof SimulationError) || error.executionError === undefined) throw error;
    return { kind: "failed", failure: toFailure(error.executionError) };
  }
}

function succeeded(outcome: Outcome, what: string): Finding {
  if (outcome.kind === "done") return { status: "ok", found: what };
  throw new Error(`${what}: ${textOf(outcome.failure)}`);
}

/** An abort in Move proves that the function exists and takes these arguments. */
function aborted(outcome: Outcome, because: string): Finding {
  if (outcome.kind === "done") throw new Error(`the call succeeds despite ${because}`);
  const { abort } = outcome.failure;
  if (abort === undefined) throw new Error(textOf(outcome.failure));
  return {
    status: "ok",
    found: `the chain accepts the arguments and refuses ${because} (${abort.module}, code ${abort.code})`,
  };
}

function textOf({ message, abort }: ExecutionFailure): string {
  return abort === undefined ? message : `${abort.module} aborts with code ${abort.code}`;
}

function unknownId(): string {
  return `0x${randomBytes(32).toString("hex")}`;
}
