export { ResealingRepository } from './resealing.repository.js';
export { ResealingService } from './resealing.service.js';
