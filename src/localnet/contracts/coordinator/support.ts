import type { ExecutionState } from "../../fullnode/execution/execution-state.ts";
import type { NetworkAddresses } from "../addresses.ts";
import { abortInner, abortSupport } from "./aborts.ts";
import { readInner } from "./coordinator-state.ts";

/** Aborts when the network does not support the curve, or has paused it. */
export function checkCurveSupport(state: ExecutionState, addresses: NetworkAddresses, curve: number): void {
  const support = readInner(state, addresses).support_config;
  const entries = support.supported_curves_to_signature_algorithms_to_hash_schemes.contents;
  if (!entries.some((entry) => entry.key === curve)) {
    abortSupport(addresses.dwalletPackageId, "validate_curve", "InvalidCurve");
  }
  if (support.paused_curves.includes(curve)) {
    abortSupport(addresses.dwalletPackageId, "validate_curve", "PausedCurve");
  }
}

/** Aborts when the network does not support the algorithm on the curve, or has paused either. */
export function checkAlgorithm(
  state: ExecutionState,
  addresses: NetworkAddresses,
  curve: number,
  signatureAlgorithm: number,
): void {
  checkCurveSupport(state, addresses, curve);
  const functionName = "validate_curve_and_signature_algorithm";
  if (hashSchemes(state, addresses, curve, signatureAlgorithm) === undefined) {
    abortSupport(addresses.dwalletPackageId, functionName, "InvalidSignatureAlgorithm");
  }
  if (readInner(state, addresses).support_config.paused_signature_algorithms.includes(signatureAlgorithm)) {
    abortSupport(addresses.dwalletPackageId, functionName, "PausedSignatureAlgorithm");
  }
}

/** Aborts when the network does not support the hash scheme for the algorithm, or has paused any of the three. */
export function checkHash(
  state: ExecutionState,
  addresses: NetworkAddresses,
  curve: number,
  signatureAlgorithm: number,
  hashScheme: number,
): void {
  checkAlgorithm(state, addresses, curve, signatureAlgorithm);
  const functionName = "validate_curve_and_signature_algorithm_and_hash_scheme";
  if (!hashSchemes(state, addresses, curve, signatureAlgorithm)?.includes(hashScheme)) {
    abortSupport(addresses.dwalletPackageId, functionName, "InvalidHashScheme");
  }
  if (readInner(state, addresses).support_config.paused_hash_schemes.includes(hashScheme)) {
    abortSupport(addresses.dwalletPackageId, functionName, "PausedHashScheme");
  }
}

/**
 * Returns true if dWallets use global presigns for the algorithm. Ika's configuration names all algorithms of dWallets
 * from a DKG, and all but ECDSA of imported keys.
 */
export function usesGlobalPresigns(
  { curve, is_imported_key_dwallet: isImported }: PresigningDwallet,
  signatureAlgorithm: number,
): boolean {
  return !(isImported && isEcdsa(curve, signatureAlgorithm));
}

/** The part of a dWallet that decides which presigns it uses. */
export interface PresigningDwallet {
  readonly id: string;
  readonly curve: number;
  readonly is_imported_key_dwallet: boolean;
}

/** Aborts unless a presign is global where it must be, and otherwise for this dWallet. */
export function checkPresignScope(
  addresses: NetworkAddresses,
  functionName: string,
  dwallet: PresigningDwallet,
  signatureAlgorithm: number,
  presignDwalletId: string | null,
): void {
  if (usesGlobalPresigns(dwallet, signatureAlgorithm)) {
    if (presignDwalletId !== null)
      abortInner(addresses.dwalletPackageId, functionName, "OnlyGlobalPresignAllowed");
  } else if (presignDwalletId !== dwallet.id) {
    abortInner(addresses.dwalletPackageId, functionName, "GlobalPresignNotAllowed");
  }
}

/** ECDSA is the first algorithm of the two secp256 curves. */
const isEcdsa = (curve: number, signatureAlgorithm: number): boolean =>
  curve <= 1 && signatureAlgorithm === 0;

function hashSchemes(
  state: ExecutionState,
  addresses: NetworkAddresses,
  curve: number,
  signatureAlgorithm: number,
): readonly number[] | undefined {
  const support = readInner(state, addresses).support_config;
  const algorithms = support.supported_curves_to_signature_algorithms_to_hash_schemes.contents.find(
    (entry) => entry.key === curve,
  );
  return algorithms?.value.contents.find((entry) => entry.key === signatureAlgorithm)?.value;
}

/** The hash schemes of every pair of curve and signature algorithm, in the chain's numbers. */
export const SUPPORTED_ALGORITHMS: readonly {
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly hashSchemes: readonly number[];
}[] = [
  { curve: 0, signatureAlgorithm: 0, hashSchemes: [0, 1, 2] },
  { curve: 0, signatureAlgorithm: 1, hashSchemes: [0] },
  { curve: 1, signatureAlgorithm: 0, hashSchemes: [0] },
  { curve: 2, signatureAlgorithm: 0, hashSchemes: [0] },
  { curve: 3, signatureAlgorithm: 0, hashSchemes: [0] },
];

/** The curves of {@link SUPPORTED_ALGORITHMS}. */
export const SUPPORTED_CURVES: readonly number[] = [
  ...new Set(SUPPORTED_ALGORITHMS.map((entry) => entry.curve)),
];
