export { SandboxModule } from './sandbox.module.js';
export { SandboxService } from './sandbox.service.js';
