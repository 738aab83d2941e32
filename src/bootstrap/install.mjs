/** Installs the packages alone: for CI steps that need neither the build nor the service. */
import { checkNode, install } from './prepare.mjs';

checkNode();
await install();
