/** Signs a Solana transfer with Solana Kit. README.md says how to run it. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  AccountRole,
  address,
  appendTransactionMessageInstruction,
  assertIsTransactionWithinSizeLimit,
  blockhash,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getPublicKeyFromAddress,
  getStructEncoder,
  getU32Encoder,
  getU64Encoder,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  verifySignature,
} from "@solana/kit";
import { Curve, createClient } from "threshold-signing-service/sdk";
import { createDWalletSolanaSigner } from "threshold-signing-service/solana";
import { createWorkerEngine } from "threshold-signing-service/worker";

const { baseUrl, apiKey } = JSON.parse(readFileSync(".data/dev.json", "utf8"));
const client = createClient({ baseUrl, apiKey, network: "localnet", engine: createWorkerEngine() });

const seed = randomBytes(32); // keep it secret: anyone who has it can spend
const { dwallet, sessionDigestHex } = await client.onboard({ seed, curve: Curve.ED25519 });
const signer = await createDWalletSolanaSigner(client, { seed, dwalletId: dwallet.id, sessionDigestHex });
console.log("address", signer.address);

// The instruction of the system program; `@solana-program/system` has a function for it.
const transfer = getStructEncoder([
  ["instruction", getU32Encoder()],
  ["lamports", getU64Encoder()],
]);
const instruction = {
  programAddress: address("11111111111111111111111111111111"),
  accounts: [
    { address: signer.address, role: AccountRole.WRITABLE_SIGNER },
    { address: address("4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM"), role: AccountRole.WRITABLE },
  ],
  data: transfer.encode({ instruction: 2, lamports: 1_000_000n }),
};

// Your program reads the newest blockhash from a node; here it is made up.
const lifetime = {
  blockhash: blockhash("4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM"),
  lastValidBlockHeight: 1n,
};
const message = pipe(
  createTransactionMessage({ version: 0 }),
  (empty) => setTransactionMessageFeePayerSigner(signer, empty),
  (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
  (dated) => appendTransactionMessageInstruction(instruction, dated),
);
const signed = await signTransactionMessageWithSigners(message);
assertIsTransactionWithinSizeLimit(signed);

const publicKey = await getPublicKeyFromAddress(signer.address);
const signature = signed.signatures[signer.address];
if (!signature) throw new Error("the transaction is not signed");
console.log("verified", await verifySignature(publicKey, signature, signed.messageBytes));
console.log("transaction", getBase64EncodedWireTransaction(signed));
