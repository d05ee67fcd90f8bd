import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as bindings from "@prisma/schema-engine-wasm/schema_engine_bg";

/** The engine's methods, by the names under which the Prisma command line calls them. */
export type SchemaEngine = Record<string, (params: object) => Promise<Record<string, unknown> | undefined>>;

/** The exports of the engine's WebAssembly module that its start-up uses. */
interface EngineModule {
  readonly SchemaEngine: {
    new: (
      options: { datamodels: [string, string][] | undefined },
      log: () => void,
      adapterFactory: object,
    ) => Promise<SchemaEngine>;
  };
  readonly version: () => string;
}

/**
 * Loads Prisma's schema engine from its WebAssembly package. The package's own entry imports the `.wasm` file as a
 * module, which Node supports only behind a flag, so the instance is created here.
 */
export async function loadEngine(): Promise<EngineModule> {
  const glue = createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm/schema_engine_bg");
  const wasm = await WebAssembly.instantiate(readFileSync(glue.replace(/\.js$/, ".wasm")), {
    "./schema_engine_bg.js": bindings as unknown as WebAssembly.ModuleImports,
  });
  // The engine reports a panic by calling this global object.
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: reportPanic } });
  const start = bindings as unknown as { __wbg_set_wasm: (exports: WebAssembly.Exports) => void };
  start.__wbg_set_wasm(wasm.instance.exports);
  (wasm.instance.exports["__wbindgen_start"] as () => void)();
  return bindings as unknown as EngineModule;
}

function reportPanic(message: string): void {
  process.stderr.write(`The schema engine panicked: ${message}\n`);
}
