export { ResealingRepository } from './resealing.repository.js';
export { type Resealed, ResealingService } from './resealing.service.js';
