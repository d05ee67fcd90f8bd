import { bcs } from "@mysten/sui/bcs";
import { parseSerializedSignature } from "@mysten/sui/cryptography";
import { GrpcTypes } from "@mysten/sui/grpc";
import { toBase64 } from "@mysten/sui/utils";
import { verifyPersonalMessageSignature, verifyTransactionSignature } from "@mysten/sui/verify";
import { RpcFailure, Status } from "../execution/failures.ts";
import { parseAddress } from "../objects/sui-types.ts";
import { type UnaryMethod, unary } from "../wire/node-methods.ts";

/**
 * Implements `sui.rpc.v2.SignatureVerificationService` for the schemes that the Sui SDK verifies without a node:
 * Ed25519, both Secp256 curves, multisig and passkeys. A zkLogin signature is never valid here.
 */
export function signatureService(): readonly UnaryMethod[] {
  return [
    unary(
      GrpcTypes.SignatureVerificationService,
      "VerifySignature",
      GrpcTypes.VerifySignatureRequest,
      GrpcTypes.VerifySignatureResponse,
      verifySignature,
    ),
  ];
}

async function verifySignature(
  request: GrpcTypes.VerifySignatureRequest,
): Promise<GrpcTypes.VerifySignatureResponse> {
  const verify = verifierOf(request.message);
  const octets = request.signature?.bcs?.value;
  if (octets === undefined) throw invalid("missing signature.bcs");
  const signature = toBase64(octets);
  const expected = request.address === undefined ? undefined : parseAddress(request.address, "address");
  let scheme: string;
  try {
    scheme = parseSerializedSignature(signature).signatureScheme;
  } catch (error) {
    throw invalid(`invalid signature: ${(error as Error).message}`);
  }
  if (scheme === "ZkLogin") return { isValid: false, reason: "this node does not verify zkLogin signatures" };
  try {
    const signer = (await verify(signature)).toSuiAddress();
    if (expected !== undefined && signer !== expected)
      return { isValid: false, reason: `the signature is of ${signer}, not of ${expected}` };
    return { isValid: true };
  } catch (error) {
    return { isValid: false, reason: (error as Error).message };
  }
}

/** Returns the verification of a message by its type. Throws INVALID_ARGUMENT if the message is malformed. */
function verifierOf(message: GrpcTypes.Bcs | undefined): (signature: string) => Promise<Signer> {
  const value = message?.value;
  if (value === undefined) throw invalid("missing message.value");
  try {
    switch (message?.name) {
      case "PersonalMessage": {
        const text = bcs.byteVector().parse(value);
        return (signature) => verifyPersonalMessageSignature(text, signature);
      }
      case "TransactionData":
        bcs.TransactionData.parse(value);
        return (signature) => verifyTransactionSignature(value, signature);
      default:
        throw new Error("its name must be PersonalMessage or TransactionData");
    }
  } catch (error) {
    throw invalid(`invalid message: ${(error as Error).message}`);
  }
}

interface Signer {
  toSuiAddress(): string;
}

function invalid(message: string): RpcFailure {
  return new RpcFailure(Status.InvalidArgument, message);
}
