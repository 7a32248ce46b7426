import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf } from '../../core/http/index.js';

const ID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';
const TIME = { format: 'date-time', example: '2027-11-21T12:00:00.000Z' };

export class ConnectionBody {
  @ApiProperty({ description: 'Id of the connection.', example: ID }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['connection'] }) object!: 'connection';
  @ApiProperty({ description: 'Whose.', example: ID }) account_id!: string;
  @ApiProperty({ description: 'Profile of the PSP.', example: 'efi' }) psp!: string;
  @ApiProperty({ description: 'The Pix key that is charged to.', example: 'pix@example.com' }) pix_key!: string;
  @ApiProperty({ description: 'Whether new live charges of the account go there.', example: true }) in_use!: boolean;
  @ApiProperty({
    description: 'Until when its certificate holds; null where the PSP asks for none.',
    type: String,
    nullable: true,
    ...TIME,
  })
  certificate_expires_at!: string | null;
  @ApiProperty({
    description: 'When the address of its callbacks was last told to the PSP; null: never.',
    type: String,
    nullable: true,
    ...TIME,
  })
  webhook_registered_at!: string | null;
  @ApiProperty({ description: 'UTC.', ...TIME }) created_at!: string;
  @ApiProperty({ description: 'When it was last configured, UTC.', ...TIME }) updated_at!: string;
}

export class ConnectionListBody extends CursorListOf(ConnectionBody) {}
