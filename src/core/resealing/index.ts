export { EncryptionKeysRepository } from './encryption-keys.repository.js';
export { openSecrets } from './open-secrets.js';
export { ResealingRepository } from './resealing.repository.js';
export { ResealingService } from './resealing.service.js';
