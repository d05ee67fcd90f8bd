/** Clients, replicas that are killed, and a chain that fails, on a real PostgreSQL: what must hold at the end. */
import { simulationSuite } from "./simulation-suite.ts";

await simulationSuite(1, 100);
