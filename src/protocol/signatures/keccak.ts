import { keccakP } from "@noble/hashes/sha3.js";
import { KECCAK_KERNEL } from "../../../gen/wasm/keccak-kernel.ts";
import { type KernelRuntime, openKernel } from "../open-kernel.ts";

/** Permutes a state of 200 bytes in place. */
type Permutation = (state: Uint8Array) => void;

/**
 * Applies Keccak-f[1600] to a state of 200 bytes, in place. A Fischlin proof takes about ten thousand permutations.
 * WebAssembly, which has integers of 64 bits, needs less than a microsecond for each, and JavaScript about ten.
 */
export function permuteKeccak(state: Uint8Array): void {
  chosen ??= kernelPermutation(globalThis.WebAssembly) ?? permuteInJavaScript;
  chosen(state);
}

let chosen: Permutation | undefined;

/** For runtimes without WebAssembly. */
export function permuteInJavaScript(state: Uint8Array): void {
  keccakP(new Uint32Array(state.buffer, state.byteOffset, 50), 24);
}

/** Returns the permutation in WebAssembly; undefined if the runtime cannot run it. */
export function kernelPermutation(runtime: KernelRuntime): Permutation | undefined {
  const kernel = openKernel<{ readonly memory: WebAssembly.Memory; permute(): void }>(KECCAK_KERNEL, runtime);
  if (kernel === undefined) return undefined;
  const lanes = new Uint8Array(kernel.memory.buffer, 0, 200);
  return (state) => {
    lanes.set(state);
    kernel.permute();
    state.set(lanes);
  };
}
