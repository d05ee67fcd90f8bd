/** `globalThis.WebAssembly`. React Native and some edge workers have none. */
export type KernelRuntime = typeof WebAssembly | undefined;

/**
 * Instantiates a small module that imports nothing, from base64, and returns its exports. Returns undefined if the
 * runtime has no WebAssembly or refuses to compile it, as some edge workers and some pages' policies do. A page's policy
 * reports each refusal, so a runtime that has refused once is not asked again.
 */
export function openKernel<Exports>(base64: string, runtime: KernelRuntime): Exports | undefined {
  if (runtime === undefined || REFUSING.has(runtime)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new runtime.Instance(new runtime.Module(bytes)).exports as Exports;
  } catch {
    REFUSING.add(runtime);
    return undefined;
  }
}

const REFUSING = new WeakSet<object>();
