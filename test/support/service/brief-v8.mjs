// For programs whose command line a test must not change: V8 compiles WebAssembly for a brief run, as in service.ts.
import v8 from "node:v8";

v8.setFlagsFromString("--liftoff-only");
