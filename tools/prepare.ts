/**
 * What `npm ci` does last in a checkout: builds `dist/`, so that the package's own name resolves, and lays out the protos
 * that ours import, so that `npx buf build` and the generators of other languages find them.
 */
import "./build.ts";
import { layOutThirdPartyProtos } from "./third-party-protos.ts";

layOutThirdPartyProtos();
